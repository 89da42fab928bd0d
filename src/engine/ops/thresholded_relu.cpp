// https://onnx.ai/onnx/operators/onnx__ThresholdedRelu.html, opsets 10-21, floats. x where it is
// above alpha, else 0; so 0 for NaN.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

float alpha_of(const OpContext& c) { return c.node().attr_float("alpha", 1.0f); }

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  const double alpha = alpha_of(c);
  return reference_float_unary(c, [=](double x) { return x > alpha ? x : 0; });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "thresholded_relu_f32", c.kernels().thresholded_relu_f32, alpha_of(c));
}

}  // namespace

std::vector<OpDef> ops_thresholded_relu() {
  return unary_ops(
      {{"", "ThresholdedRelu", 10, kLastOpset, 1, 1, 1, 1, {"alpha"}, infer, reference, lower}});
}

}  // namespace hasten
