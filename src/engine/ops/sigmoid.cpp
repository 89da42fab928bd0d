// https://onnx.ai/onnx/operators/onnx__Sigmoid.html, opsets 6-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return 1 / (1 + std::exp(-x)); });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "sigmoid_f32", c.kernels().sigmoid_f32, 0, 0, 20);
}

}  // namespace

std::vector<OpDef> ops_sigmoid() {
  return unary_ops({{"", "Sigmoid", 6, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
