// https://onnx.ai/onnx/operators/onnx__Atanh.html, opsets 9-21, floats. NaN outside
// [-1, 1].
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return std::atanh(x); });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "atanh_f32", c.kernels().atanh_f32, 0, 0, 35);
}

}  // namespace

std::vector<OpDef> ops_atanh() {
  return unary_ops({{"", "Atanh", 9, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
