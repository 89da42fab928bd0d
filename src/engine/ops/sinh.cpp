// https://onnx.ai/onnx/operators/onnx__Sinh.html, opsets 9-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return std::sinh(x); });
}

Status lower(LowerContext& c) { return lower_unary(c, "sinh_f32", c.kernels().sinh_f32, 0, 0, 30); }

}  // namespace

std::vector<OpDef> ops_sinh() {
  return unary_ops({{"", "Sinh", 9, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
