// What operators on sequences and optional values share.
#pragma once

#include "engine/ops/numbers.h"
#include "engine/ops/op.h"

namespace hasten {

/// The elements of a sequence (or optional) that a reference got.
inline std::span<const Tensor> tensors_of(const TensorView& v) {
  return {v.as<Tensor>(), static_cast<size_t>(v.count())};
}

/// The output becomes this tensor.
Status put(RefContext& c, size_t output, const Tensor& tensor);

/// Input i is a sequence, or not known yet. Error: invalid_model.
Status check_sequence(const InferContext& c, size_t i);
/// Input i is one int32 or int64. Error: invalid_model.
Status check_position(const InferContext& c, size_t i);

/// Output 0 is what the input is: a tensor, a sequence or an optional value.
void set_like(InferContext& c, const Facts& input);
/// Output 0 is a sequence of `length` tensors.
void set_sequence(InferContext& c, DType element, Dim length);

/// The position in input i, counted from behind if negative: 0 … last. Error: invalid_model with
/// both values.
Result<int64_t> position(const RefContext& c, size_t i, int64_t length, int64_t last);

/// A row for an operator that takes or gives sequences.
OpDef sequence_op(const char* name, int since, int until, int min_inputs, int max_inputs,
                  std::vector<const char*> attrs, Status (*infer)(InferContext&),
                  Status (*reference)(RefContext&));

}  // namespace hasten
