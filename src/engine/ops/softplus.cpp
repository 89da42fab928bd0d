// https://onnx.ai/onnx/operators/onnx__Softplus.html, opsets 1-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(
      c, [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "softplus_f32", c.kernels().softplus_f32, 0, 0, 40);
}

}  // namespace

std::vector<OpDef> ops_softplus() {
  return unary_ops({{"", "Softplus", 1, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
