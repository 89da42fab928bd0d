// https://onnx.ai/onnx/operators/onnx__SequenceErase.html, opsets 11-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(check_sequence(c, 0));
  if (c.has_in(1)) HASTEN_CHECK(check_position(c, 1));
  const Facts& seq = c.in(0);
  if (seq.known_shape() && seq.shape[0].value() == 0) return c.invalid("the sequence is empty");
  set_sequence(c, seq.element, seq.known_shape() ? Dim(seq.shape[0].value() - 1) : Dim::fresh());
  return {};
}

Status reference(RefContext& c) {
  const auto from = tensors_of(c.in(0));
  const auto n = static_cast<int64_t>(from.size());
  if (n == 0) return c.invalid("the sequence is empty");
  int64_t at = n - 1;
  if (c.has_in(1)) {
    HASTEN_TRY(at, position(c, 1, n, n - 1));
  }
  HASTEN_TRY(void* memory, c.out(0, DType::kSequence, {n - 1}));
  auto* out = static_cast<Tensor*>(memory);
  std::copy(from.begin(), from.begin() + at, out);
  std::copy(from.begin() + at + 1, from.end(), out + at);
  return {};
}

}  // namespace

std::vector<OpDef> ops_sequence_erase() {
  return {sequence_op("SequenceErase", 11, kLastOpset, 1, 2, {}, infer, reference)};
}

}  // namespace hasten
