// https://onnx.ai/onnx/operators/onnx__Elu.html, opsets 6-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

float alpha_of(const OpContext& c) { return c.node().attr_float("alpha", 1.0f); }

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  const double alpha = alpha_of(c);
  return reference_float_unary(c, [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "elu_f32", c.kernels().elu_f32, alpha_of(c), 1, 20);
}

}  // namespace

std::vector<OpDef> ops_elu() {
  return unary_ops({{"", "Elu", 6, kLastOpset, 1, 1, 1, 1, {"alpha"}, infer, reference, lower}});
}

}  // namespace hasten
