#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

constexpr const char* kHead =
    "graph \"g\" opset {\"\": 13}\n"
    "const %one: f32[] = {1}\n"
    "const %ones: f32[1,3] = {1, 1, 1}\n"
    "const %zero: f32[] = {0}\n"
    "const %minus: f32[] = {-0}\n"
    "const %zeros: f32[1,1,3] = {0, 0, 0}\n"
    "const %dims: i64[2] = {2, 3}\n"
    "in %x: f32[2,3]\n";
std::string graph(const std::string& nodes) { return kHead + nodes; }

TEST(RemoveIdentities, ReturnsWhatTheyGet) {
  for (const char* node :
       {"Identity(%x)", "Cast(%x) {to=1}", "Dropout(%x)", "Reshape(%x, %dims)", "Expand(%x, %dims)",
        "Flatten(%x)", "Transpose(%x) {perm=[0,1]}", "Concat(%x) {axis=0}", "Max(%x)",
        "Mul(%x, %one)", "Mul(%one, %x)", "Mul(%x, %ones)", "Div(%x, %one)", "Sub(%x, %zero)"}) {
    EXPECT_EQ(nodes_after("remove_identities",
                          graph(fmt::format("%i = {}\n%y = Relu(%i)\nout %y\n", node))),
              "%y = Relu(%x)\n")
        << node;
  }
}

TEST(RemoveIdentities, LeavesTheRest) {
  for (const char* node :
       {"Cast(%x) {to=10}", "Transpose(%x) {perm=[1,0]}", "Add(%x, %zero)", "Sub(%x, %minus)",
        "Sub(%zero, %x)", "Sub(%x, %x)", "Mul(%x, %zero)", "Div(%one, %x)", "Add(%x, %zeros)",
        "Sub(%x, %zeros)", "Mul(%x, %minus)"}) {
    EXPECT_TRUE(
        leaves("remove_identities", graph(fmt::format("%i = {}\n%y = Abs(%i)\nout %y\n", node))))
        << node;
  }
}

TEST(RemoveIdentities, OutputsKeepTheirNames) {
  EXPECT_TRUE(leaves("remove_identities", graph("%y = Identity(%x)\nout %y\n")));
  EXPECT_TRUE(
      leaves("remove_identities", graph("%r = Relu(%x)\n%y = Mul(%r, %one)\nout %y, %r\n")));
}

TEST(RemoveIdentities, AChainIsTheInput) {
  const std::string text = graph(
      "%a = Cast(%x) {to=1}\n%q = Div(%one, %one)\n%b = Mul(%q, %a)\n%c = Identity(%b)\n"
      "%d = Dropout(%c)\n%e = Add(%d, %zero)\n%y = Identity(%e)\nout %y\n");
  auto after = graph_after({"fold_constants", "remove_identities"}, text);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->main.nodes.size(), 2u);
  const Tensor x = random_tensor({2, 3});
  EXPECT_EQ(elements(expect_same_answer(text, {x})[0]), elements(x));
}

}  // namespace
}  // namespace hasten::test
