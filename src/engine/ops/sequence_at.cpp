// https://onnx.ai/onnx/operators/onnx__SequenceAt.html, opsets 11-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(check_sequence(c, 0));
  HASTEN_CHECK(check_position(c, 1));
  c.set_unknown(0, c.in(0).element);
  return {};
}

Status reference(RefContext& c) {
  const auto from = tensors_of(c.in(0));
  const auto n = static_cast<int64_t>(from.size());
  HASTEN_TRY(const int64_t at, position(c, 1, n, n - 1));
  return put(c, 0, from[static_cast<size_t>(at)]);
}

}  // namespace

std::vector<OpDef> ops_sequence_at() {
  return {sequence_op("SequenceAt", 11, kLastOpset, 2, 2, {}, infer, reference)};
}

}  // namespace hasten
