// https://onnx.ai/onnx/operators/onnx__Mish.html, opsets 18-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) {
    return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
  });
}

Status lower(LowerContext& c) { return lower_unary(c, "mish_f32", c.kernels().mish_f32, 0, 0, 20); }

}  // namespace

std::vector<OpDef> ops_mish() {
  return unary_ops({{"", "Mish", 18, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
