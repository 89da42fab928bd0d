// https://onnx.ai/onnx/operators/onnx__Reciprocal.html, opsets 6-21, floats.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return 1 / x; });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "reciprocal_f32", c.kernels().reciprocal_f32, 0, 0, 2);
}

}  // namespace

std::vector<OpDef> ops_reciprocal() {
  return unary_ops({{"", "Reciprocal", 6, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
