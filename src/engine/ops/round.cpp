// https://onnx.ai/onnx/operators/onnx__Round.html, opsets 11-21, floats. Halves to even.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return std::nearbyint(x); });
}

Status lower(LowerContext& c) { return lower_unary(c, "round_f32", c.kernels().round_f32); }

}  // namespace

std::vector<OpDef> ops_round() {
  return unary_ops({{"", "Round", 11, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
