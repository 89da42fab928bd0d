// https://onnx.ai/onnx/operators/onnx__SequenceInsert.html, opsets 11-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(check_sequence(c, 0));
  const Facts &seq = c.in(0), &tensor = c.in(1);
  if (seq.element != DType::kNone && tensor.dtype != DType::kNone && seq.element != tensor.dtype) {
    return c.invalid("the tensor is {}, the sequence holds {}", tensor.text(),
                     dtype_name(seq.element));
  }
  if (tensor.dtype == DType::kSequence || tensor.dtype == DType::kOptional) {
    return c.invalid("input 1 is {}, it must be a tensor", tensor.text());
  }
  if (c.has_in(2)) HASTEN_CHECK(check_position(c, 2));
  set_sequence(c, tensor.dtype, seq.known_shape() ? Dim(seq.shape[0].value() + 1) : Dim::fresh());
  return {};
}

Status reference(RefContext& c) {
  const auto from = tensors_of(c.in(0));
  const auto n = static_cast<int64_t>(from.size());
  int64_t at = n;
  if (c.has_in(2)) {
    HASTEN_TRY(at, position(c, 2, n, n));
  }
  HASTEN_TRY(void* memory, c.out(0, DType::kSequence, {n + 1}));
  auto* out = static_cast<Tensor*>(memory);
  std::copy(from.begin(), from.begin() + at, out);
  HASTEN_TRY(out[at], Tensor::copy(c.in(1)));
  std::copy(from.begin() + at, from.end(), out + at + 1);
  return {};
}

}  // namespace

std::vector<OpDef> ops_sequence_insert() {
  return {sequence_op("SequenceInsert", 11, kLastOpset, 2, 3, {}, infer, reference)};
}

}  // namespace hasten
