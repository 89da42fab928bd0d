// https://onnx.ai/onnx/operators/onnx__If.html, opsets 1-21. The plan runs the branch itself, in
// place of the node; what the outputs are follows from the branch.
#include <algorithm>

#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts& condition = c.in(0);
  if (condition.dtype != DType::kBool && condition.dtype != DType::kNone) {
    return c.invalid("the condition is {}, it must be bool", condition.text());
  }
  if (condition.known_shape() && count_of(to_dims(condition.shape)) != 1) {
    return c.invalid("the condition is {}, it must be one element", condition.text());
  }
  for (const char* name : {"then_branch", "else_branch"}) {
    const auto& blocks = c.node().blocks;
    const auto block = std::find_if(blocks.begin(), blocks.end(),
                                    [&](const auto& entry) { return entry.name == name; });
    if (block == blocks.end()) return c.invalid("attribute '{}' is missing", name);
    if (!block->block.inputs.empty()) {
      return c.invalid("{} has {} inputs, it must have none", name, block->block.inputs.size());
    }
    if (block->block.outputs.size() != c.outputs()) {
      return c.invalid("{} has {} outputs, the node has {}", name, block->block.outputs.size(),
                       c.outputs());
    }
  }
  for (size_t i = 0; i < c.outputs(); ++i) c.set_unknown(i, DType::kNone);
  return {};
}

}  // namespace

std::vector<OpDef> ops_if() {
  return {{"", "If", 1, kLastOpset, 1, 1, 1, -1, {"then_branch", "else_branch"}, infer, nullptr}};
}

}  // namespace hasten
