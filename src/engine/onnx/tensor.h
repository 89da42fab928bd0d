// TensorProto -> Tensor.
#pragma once

#include <memory>

#include "engine/ir/tensor.h"
#include "engine/onnx/external.h"
#include "engine/onnx/proto.h"

namespace hasten::onnx {

/// Borrows elements where they lie aligned in the file (`owner` keeps it; null: always copies),
/// else copies. All sizes are checked before anything is allocated.
/// Errors: invalid_model, unsupported, io, out_of_memory; the caller names the tensor.
Result<Tensor> decode_tensor(const TensorProto& proto, const std::shared_ptr<const void>& owner,
                             ExternalFiles& external);

/// The dtype of a TensorProto.DataType. Errors: unsupported (float8, int4, complex …),
/// invalid_model (not a type at all).
Result<DType> decode_dtype(int32_t number);

}  // namespace hasten::onnx
