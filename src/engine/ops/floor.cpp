// https://onnx.ai/onnx/operators/onnx__Floor.html, opsets 6-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return std::floor(x); });
}

Status lower(LowerContext& c) { return lower_unary(c, "floor_f32", c.kernels().floor_f32); }

}  // namespace

std::vector<OpDef> ops_floor() {
  return unary_ops({{"", "Floor", 6, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
