// https://onnx.ai/onnx/operators/onnx__LeakyRelu.html, opsets 6-21, floats.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

float slope_of(const OpContext& c) { return c.node().attr_float("alpha", 0.01f); }

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  const double slope = slope_of(c);
  return reference_float_unary(c, [=](double x) { return x < 0 ? slope * x : x; });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "leaky_relu_f32", c.kernels().leaky_relu_f32, slope_of(c), 0, 2);
}

}  // namespace

std::vector<OpDef> ops_leaky_relu() {
  return unary_ops(
      {{"", "LeakyRelu", 6, kLastOpset, 1, 1, 1, 1, {"alpha"}, infer, reference, lower}});
}

}  // namespace hasten
