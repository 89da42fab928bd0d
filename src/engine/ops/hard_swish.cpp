// https://onnx.ai/onnx/operators/onnx__HardSwish.html, opsets 14-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(
      c, [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "hard_swish_f32", c.kernels().hard_swish_f32, 0, 0, 4);
}

}  // namespace

std::vector<OpDef> ops_hard_swish() {
  return unary_ops({{"", "HardSwish", 14, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
