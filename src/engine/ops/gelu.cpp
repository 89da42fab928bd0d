// https://onnx.ai/onnx/operators/onnx__Gelu.html, opsets 20-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Result<bool> by_tanh(const OpContext& c) {
  const std::string how = c.node().attr_string("approximate", "none");
  if (how != "none" && how != "tanh") {
    return c.invalid("approximate is '{}', it must be 'none' or 'tanh'", how);
  }
  return how == "tanh";
}

Status infer(InferContext& c) {
  HASTEN_CHECK(by_tanh(c));
  return infer_unary(c, kFloats);
}

Status reference(RefContext& c) {
  HASTEN_TRY(const bool tanh, by_tanh(c));
  return reference_float_unary(c, [=](double x) {
    const double t = tanh ? std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))
                          : std::erf(x / std::sqrt(2.0));
    return 0.5 * x * (1 + t);
  });
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const bool tanh, by_tanh(c));
  return tanh ? lower_unary(c, "gelu_tanh_f32", c.kernels().gelu_tanh_f32, 0, 0, 25)
              : lower_unary(c, "gelu_f32", c.kernels().gelu_f32, 0, 0, 25);
}

}  // namespace

std::vector<OpDef> ops_gelu() {
  return unary_ops(
      {{"", "Gelu", 20, kLastOpset, 1, 1, 1, 1, {"approximate"}, infer, reference, lower}});
}

}  // namespace hasten
