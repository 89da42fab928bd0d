// https://onnx.ai/onnx/operators/onnx__SequenceLength.html, opsets 11-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(check_sequence(c, 0));
  c.set(0, DType::kI64, {});
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(void* out, c.out(0, DType::kI64, {}));
  *static_cast<int64_t*>(out) = c.in(0).count();
  return {};
}

}  // namespace

std::vector<OpDef> ops_sequence_length() {
  return {sequence_op("SequenceLength", 11, kLastOpset, 1, 1, {}, infer, reference)};
}

}  // namespace hasten
