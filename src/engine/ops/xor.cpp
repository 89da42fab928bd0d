// https://onnx.ai/onnx/operators/onnx__Xor.html, opsets 7-21.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kBools); }

Status reference(RefContext& c) {
  return reference_logic(c, [](bool x, bool y) { return x != y; });
}

Status lower(LowerContext& c) {
  return lower_broadcast(c, {{DType::kBool, "xor_bool", c.kernels().xor_bool}});
}

}  // namespace

std::vector<OpDef> ops_xor() {
  return {{"", "Xor", 7, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
