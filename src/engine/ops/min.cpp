// https://onnx.ai/onnx/operators/onnx__Min.html, opsets 6-21, all numbers. NaN if any is NaN.
#include "engine/ops/extremum.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kNumbers); }

Status reference(RefContext& c) {
  // y != y: NaN.
  return reference_fold(c, [](auto x, auto y) { return x > y || y != y ? y : x; });
}

Status lower(LowerContext& c) { return lower_fold(c, "min_f32", c.kernels().min_f32); }

}  // namespace

std::vector<OpDef> ops_min() {
  return {{"", "Min", 6, kLastOpset, 1, -1, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
