// https://onnx.ai/onnx/operators/onnx__Selu.html, opsets 6-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

float alpha_of(const OpContext& c) {
  return c.node().attr_float("alpha", 1.67326319217681884765625f);
}
float gamma_of(const OpContext& c) {
  return c.node().attr_float("gamma", 1.05070102214813232421875f);
}

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  const double alpha = alpha_of(c), gamma = gamma_of(c);
  return reference_float_unary(
      c, [=](double x) { return x < 0 ? gamma * alpha * std::expm1(x) : gamma * x; });
}

Status lower(LowerContext& c) {
  const float gamma = gamma_of(c);
  return lower_unary(c, "elu_f32", c.kernels().elu_f32, alpha_of(c) * gamma, gamma, 20);
}

}  // namespace

std::vector<OpDef> ops_selu() {
  return unary_ops(
      {{"", "Selu", 6, kLastOpset, 1, 1, 1, 1, {"alpha", "gamma"}, infer, reference, lower}});
}

}  // namespace hasten
