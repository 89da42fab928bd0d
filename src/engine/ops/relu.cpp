// https://onnx.ai/onnx/operators/onnx__Relu.html, opsets 6-21, floats and signed integers. NaN
// stays NaN.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kSignedNumbers); }

Status reference(RefContext& c) {
  return reference_unary(c, [](auto x) { return x < 0 ? decltype(x){0} : x; });
}

Status lower(LowerContext& c) { return lower_unary(c, "relu_f32", c.kernels().relu_f32); }

}  // namespace

std::vector<OpDef> ops_relu() {
  return unary_ops({{"", "Relu", 6, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
