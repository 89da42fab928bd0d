// https://onnx.ai/onnx/operators/onnx__Mean.html, opsets 6-21 (broadcasting since 8), floats. The
// sum, in the order of the inputs, over their number.
#include "engine/ops/extremum.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kFloats); }

Status reference(RefContext& c) { return reference_sum(c, static_cast<double>(c.inputs())); }

Status lower(LowerContext& c) {
  return lower_fold(c, "mean_f32", c.kernels().add_f32, static_cast<float>(c.inputs()));
}

}  // namespace

std::vector<OpDef> ops_mean() {
  return {{"", "Mean", 6, kLastOpset, 1, -1, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
