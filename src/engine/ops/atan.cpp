// https://onnx.ai/onnx/operators/onnx__Atan.html, opsets 7-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return std::atan(x); });
}

Status lower(LowerContext& c) { return lower_unary(c, "atan_f32", c.kernels().atan_f32, 0, 0, 25); }

}  // namespace

std::vector<OpDef> ops_atan() {
  return unary_ops({{"", "Atan", 7, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
