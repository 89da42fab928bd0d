// https://onnx.ai/onnx/operators/onnx__Celu.html, opsets 12-21, f32.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

float alpha_of(const OpContext& c) { return c.node().attr_float("alpha", 1.0f); }

Status infer(InferContext& c) {
  // Division by it.
  if (alpha_of(c) == 0) return c.invalid("alpha is 0");
  return infer_unary(c, dtypes({DType::kF32}));
}

Status reference(RefContext& c) {
  const double alpha = alpha_of(c);
  return reference_float_unary(c, [=](double x) {
    const double below = alpha * std::expm1(x / alpha);
    return std::isnan(x) ? x : std::max(x, 0.0) + std::min(below, 0.0);
  });
}

Status lower(LowerContext& c) {
  const float alpha = alpha_of(c);
  if (!(alpha > 0) || std::isinf(alpha)) {
    c.refuse("celu_f32", fmt::format("alpha is {}", alpha));
    return {};
  }
  return lower_unary(c, "celu_f32", c.kernels().celu_f32, alpha, 0, 20);
}

}  // namespace

std::vector<OpDef> ops_celu() {
  return unary_ops({{"", "Celu", 12, kLastOpset, 1, 1, 1, 1, {"alpha"}, infer, reference, lower}});
}

}  // namespace hasten
