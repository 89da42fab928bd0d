// https://onnx.ai/onnx/operators/onnx__Tanh.html, opsets 6-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return std::tanh(x); });
}

Status lower(LowerContext& c) { return lower_unary(c, "tanh_f32", c.kernels().tanh_f32, 0, 0, 20); }

}  // namespace

std::vector<OpDef> ops_tanh() {
  return unary_ops({{"", "Tanh", 6, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
