#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

const std::string kHead = "graph \"g\" opset {\"\": 13}\n";

/// The constant that the value became.
std::vector<float> folded(const Graph& graph, const std::string& name) {
  for (const Value& v : graph.values) {
    if (v.name == name && v.is_constant()) return elements(v.constant);
  }
  ADD_FAILURE() << name << " is no constant";
  return {};
}

TEST(FoldConstants, RunsWhatHasOnlyConstants) {
  const std::string text = kHead +
                           "const %w: f32[2,3] = {1, 2, 3, 4, 5, 6}\n"
                           "const %dims: i64[2] = {3, 2}\n"
                           "in %x: f32[n,3]\n"
                           "%t = Transpose(%w) {perm=[1,0]}\n"
                           "%r = Reshape(%t, %dims)\n"
                           "%y = MatMul(%x, %r)\nout %y\n";
  EXPECT_EQ(nodes_after("fold_constants", text), "%y = MatMul(%x, %r)\n");
  auto graph = graph_after({"fold_constants", "remove_dead"}, text);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(folded(*graph, "r"), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  expect_same_answer(text, {random_tensor({4, 3})});
}

TEST(FoldConstants, KeepsOutputsOfTheModel) {
  const std::string text = kHead + "const %w: f32[2] = {1, -2}\n%y = Relu(%w)\nout %y\n";
  EXPECT_EQ(ops_after("fold_constants", text), "");
  EXPECT_EQ(elements(expect_same_answer(text, {})[0]), (std::vector<float>{1, 0}));
}

TEST(FoldConstants, ComparisonsOfOldOpsets) {
  for (const char* opset : {"12", "13", "15", "16"}) {
    std::string text =
        "graph \"g\" opset {\"\": OPSET}\n"
        "const %a: f32[3] = {1, 2, 3}\nconst %b: f32[3] = {3, 2, 1}\n"
        "in %x: f32[3]\n%c = GreaterOrEqual(%a, %b)\n%y = Where(%c, %x, %a)\n"
        "out %y\n";
    text.replace(text.find("OPSET"), 5, opset);
    EXPECT_EQ(ops_after("fold_constants", text), "Where ");
    EXPECT_EQ(
        elements(expect_same_answer(text, {Tensor::floats({3}, std::vector<float>{7, 8, 9})})[0]),
        (std::vector<float>{1, 8, 9}));
  }
}

// Folded elements have the bits of run time, on this machine's kernels.
TEST(FoldConstants, SameBitsAsAtRunTime) {
  const std::string nodes =
      "%e = Exp(%a)\n%t = Tanh(%e)\n%s = ReduceSum(%t)\n%g = Erf(%s)\n%m = Div(%t, %g)\n"
      "%y = Softmax(%m)\nout %y\n";
  const Tensor a = random_tensor({5, 37}, 3);
  std::string list;
  for (float v : elements(a)) list += fmt::format("{}{}", list.empty() ? "" : ", ", v);
  const std::string constant = kHead + "const %a: f32[5,37] = {" + list + "}\n" + nodes;
  const std::string input = kHead + "in %a: f32[5,37]\n" + nodes;
  EXPECT_EQ(ops_after("fold_constants", constant), "");
  const auto now = run_engine(constant, {}, true), later = run_engine(input, {a}, true);
  ASSERT_EQ(now[0].bytes(), later[0].bytes());
  EXPECT_EQ(std::memcmp(now[0].data(), later[0].data(), now[0].bytes()), 0);
}

TEST(FoldConstants, LeavesWhatWouldGrow) {
  // 2^31 floats.
  EXPECT_TRUE(leaves("fold_constants", kHead +
                                           "const %v: f32[2] = {1, 2}\n"
                                           "const %times: i64[1] = {1073741824}\n"
                                           "in %i: i64[1]\n"
                                           "%t = Tile(%v, %times)\n%y = Gather(%t, %i)\nout %y\n"));
  // 4 MB of one number.
  EXPECT_TRUE(
      leaves("fold_constants", kHead + "const %v: f32[1] = {1}\n"
                                       "const %dims: i64[1] = {1048576}\n"
                                       "in %i: i64[1]\n"
                                       "%t = Expand(%v, %dims)\n%y = Gather(%t, %i)\nout %y\n"));
}

TEST(FoldConstants, LeavesWhatWouldTakeLong) {
  // 10^12 products of small operands, to one number.
  std::string ones = "1";
  for (int i = 1; i < 1000; ++i) ones += ", 1";
  EXPECT_TRUE(leaves("fold_constants", kHead + "const %v: f32[1000] = {" + ones +
                                           "}\nin %x: f32[1]\n"
                                           "%e = Einsum(%v, %v, %v, %v) {equation=\"a,b,c,d->\"}\n"
                                           "%y = Add(%x, %e)\nout %y\n"));
}

TEST(FoldConstants, KeepsToItsBudget) {
  const std::string text = kHead +
                           "const %a: f32[4] = {1, 2, 3, 4}\nin %x: f32[4]\n"
                           "%b = Neg(%a)\n%c = Abs(%a)\n%d = Add(%x, %b)\n%y = Add(%d, %c)\n"
                           "out %y\n";
  PassContext context = pass_context();
  context.limits.folded_bytes = 16;
  auto graph = graph_after({"fold_constants"}, text, context);
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->main.nodes.size(), 3u);
  EXPECT_EQ(graph->main.nodes[0].op, "Abs");
}

TEST(FoldConstants, LeavesWhatFails) {
  const std::string text = kHead +
                           "const %v: f32[2] = {1, 2}\nconst %i: i64[1] = {5}\nin %x: f32[1]\n"
                           "%g = Gather(%v, %i)\n%y = Add(%x, %g)\nout %y\n";
  auto graph = graph_after({"fold_constants"}, text);
  // Either inference refuses the model, or the node stays for the run to fail on.
  if (graph) {
    EXPECT_EQ(graph->main.nodes.size(), 2u);
  } else {
    EXPECT_EQ(graph.error().code, Code::kInvalidModel);
  }
}

// What a Reshape, Squeeze or Flatten of a weight became doesn't point into what was dropped.
TEST(FoldConstants, OutlivesItsParents) {
  const std::string text = kHead +
                           "const %w: f32[1,2,2] = {1, 2, 3, 4}\n"
                           "const %axis: i64[1] = {0}\n"
                           "const %dims: i64[2] = {4, 1}\n"
                           "const %two: i64[2] = {2, 2}\n"
                           "in %x: f32[2,2]\n"
                           "%s = Squeeze(%w, %axis)\n%f = Flatten(%s) {axis=0}\n"
                           "%r = Reshape(%f, %dims)\n%t = Transpose(%r) {perm=[1,0]}\n"
                           "%q = Reshape(%t, %two)\n%y = Add(%x, %q)\nout %y\n";
  const Tensor x = Tensor::floats({2, 2}, std::vector<float>{10, 20, 30, 40});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(elements(run_engine(text, {x}, true)[0]), (std::vector<float>{11, 22, 33, 44}));
  }
}

}  // namespace
}  // namespace hasten::test
