#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

const std::string kHead = "graph \"g\" opset {\"\": 17}\nin %x: f32[2]\nin %c: bool[]\n";

TEST(RemoveDead, RemovesChainsThatNobodyReads) {
  EXPECT_EQ(
      nodes_after("remove_dead",
                  kHead + "%a = Relu(%x)\n%b = Exp(%a)\n%d = Neg(%b)\n%y = Abs(%a)\nout %y\n"),
      "%a = Relu(%x)\n%y = Abs(%a)\n");
}

TEST(RemoveDead, KeepsWhatOneOutputNeeds) {
  EXPECT_TRUE(leaves("remove_dead",
                     "graph \"g\" opset {\"\": 17}\nconst %k: i64[1] = {2}\nin %x: f32[4]\n"
                     "%v, %i = TopK(%x, %k)\nout %i\n"));
}

TEST(RemoveDead, KeepsWhatABranchReads) {
  EXPECT_TRUE(leaves("remove_dead", kHead +
                                        "%a = Relu(%x)\n"
                                        "%y = If(%c) \"if\"\n  then_branch:\n    out %a\n"
                                        "  else_branch:\n    %n = Neg(%x)\n    out %n\nout %y\n"));
}

TEST(RemoveDead, LooksIntoBranches) {
  auto graph =
      graph_after({"remove_dead"}, kHead +
                                       "%y = If(%c) \"if\"\n  then_branch:\n    %u = Exp(%x)\n"
                                       "    %a = Relu(%x)\n    out %a\n"
                                       "  else_branch:\n    out %x\nout %y\n");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->main.nodes[0].blocks[0].block.nodes.size(), 1u);
}

TEST(RemoveDead, DropsElementsThatNobodyReads) {
  auto graph = graph_after({"remove_dead"},
                           "graph \"g\" opset {\"\": 17}\n"
                           "const %w: f32[2] = {1, 2}\nin %x: f32[2]\n"
                           "%u = Add(%x, %w)\n%y = Abs(%x)\nout %y\n");
  ASSERT_TRUE(graph) << graph.error().message;
  for (const Value& v : graph->values) EXPECT_FALSE(v.is_constant()) << v.name;
}

}  // namespace
}  // namespace hasten::test
