#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

constexpr const char* kHead =
    "graph \"g\" opset {\"\": 17}\n"
    "const %a: f32[2] = {1, 2}\n"
    "const %b: f32[2] = {1, 2}\n"
    "const %c: f32[1,2] = {1, 2}\n"
    "in %x: f32[2,2]\n";
std::string graph(const std::string& nodes) { return kHead + nodes; }

TEST(MergeDuplicates, EqualNodesAreOne) {
  const std::string text = graph("%p = Add(%x, %a)\n%q = Add(%x, %b)\n%y = Mul(%p, %q)\nout %y\n");
  EXPECT_EQ(nodes_after("merge_duplicates", text), "%p = Add(%x, %a)\n%y = Mul(%p, %p)\n");
  expect_same_answer(text, {random_tensor({2, 2})});
}

TEST(MergeDuplicates, LeavesTheRest) {
  for (const char* nodes : {
           "%p = Add(%x, %a)\n%q = Add(%a, %x)\n%y = Mul(%p, %q)\nout %y\n",
           "%p = Add(%x, %a)\n%q = Sub(%x, %a)\n%y = Mul(%p, %q)\nout %y\n",
           "%p = Add(%x, %a)\n%q = Add(%x, %c)\n%y = Mul(%p, %q)\nout %y\n",
           "%p = Softmax(%x) {axis=0}\n%q = Softmax(%x) {axis=1}\n%y = Mul(%p, %q)\nout %y\n",
           // Both are outputs of the model.
           "%p = Relu(%x)\n%q = Relu(%x)\nout %p, %q\n",
       }) {
    EXPECT_TRUE(leaves("merge_duplicates", graph(nodes))) << nodes;
  }
}

// 0 and -0, and NaNs of different bits, are different constants.
TEST(MergeDuplicates, ComparesBits) {
  EXPECT_TRUE(leaves("merge_duplicates",
                     "graph \"g\" opset {\"\": 17}\n"
                     "const %a: f32[1] = {0}\nconst %b: f32[1] = {-0}\nin %x: f32[1]\n"
                     "%p = Div(%x, %a)\n%q = Div(%x, %b)\n%y = Sub(%p, %q)\nout %y\n"));
}

}  // namespace
}  // namespace hasten::test
