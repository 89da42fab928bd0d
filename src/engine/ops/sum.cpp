// https://onnx.ai/onnx/operators/onnx__Sum.html, opsets 6-21 (broadcasting since 8), floats.
#include "engine/ops/extremum.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kFloats); }

Status reference(RefContext& c) { return reference_sum(c, 1); }

Status lower(LowerContext& c) { return lower_fold(c, "add_f32", c.kernels().add_f32); }

}  // namespace

std::vector<OpDef> ops_sum() {
  return {{"", "Sum", 6, kLastOpset, 1, -1, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
