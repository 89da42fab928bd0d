// https://onnx.ai/onnx/operators/onnx__Erf.html, opsets 9-21, all numbers; of integers towards
// zero.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kNumbers); }

Status reference(RefContext& c) {
  return reference_unary(
      c, [](auto x) { return static_cast<decltype(x)>(std::erf(static_cast<double>(x))); });
}

Status lower(LowerContext& c) { return lower_unary(c, "erf_f32", c.kernels().erf_f32, 0, 0, 20); }

}  // namespace

std::vector<OpDef> ops_erf() {
  return unary_ops({{"", "Erf", 9, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
