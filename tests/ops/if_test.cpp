#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(If, ChecksItsBranches) {
  Node node;
  node.name = "choose";
  node.op = "If";
  node.def = find_op("", "If", 16);
  node.inputs = {0};
  node.outputs = {1};
  ASSERT_NE(node.def, nullptr);
  EXPECT_EQ(node.def->reference, nullptr);  // the plan runs the branch itself
  const auto infer = [&](const Facts& condition) {
    const Facts* in[] = {&condition};
    std::vector<Facts> out(1);
    InferContext c(node, in, out);
    const auto status = node.def->infer(c);
    return status ? std::string("fine") : status.error().message;
  };
  const Facts yes = shaped(DType::kBool, {});
  EXPECT_EQ(infer(yes), "node 'choose' (If): attribute 'then_branch' is missing");
  node.blocks.push_back({"then_branch", Block{{}, {}, {5}}});
  EXPECT_EQ(infer(yes), "node 'choose' (If): attribute 'else_branch' is missing");
  node.blocks.push_back({"else_branch", Block{{}, {}, {}}});
  EXPECT_EQ(infer(yes), "node 'choose' (If): else_branch has 0 outputs, the node has 1");
  node.blocks[1].block.outputs = {6};
  EXPECT_EQ(infer(yes), "fine");
  EXPECT_EQ(infer(shaped(DType::kF32, {})),
            "node 'choose' (If): the condition is f32[], it must be bool");
  EXPECT_EQ(infer(shaped(DType::kBool, {Dim(2)})),
            "node 'choose' (If): the condition is bool[2], it must be one element");
}

}  // namespace
}  // namespace hasten::test
