// https://onnx.ai/onnx/operators/onnx__Softsign.html, opsets 1-21, floats. Of an
// infinity NaN, as the formula says.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return x / (1 + std::abs(x)); });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "softsign_f32", c.kernels().softsign_f32, 0, 0, 3);
}

}  // namespace

std::vector<OpDef> ops_softsign() {
  return unary_ops({{"", "Softsign", 1, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
