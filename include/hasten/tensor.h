// Tensors as the public API hands them over: somebody else's memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hasten::api {

/// Numbers are those of onnx.TensorProto.DataType.
enum class DataType : int {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};

/// Row-major elements that the holder of this view doesn't own.
struct TensorView {
  DataType type = DataType::kFloat;
  std::vector<int64_t> shape;
  const void* data = nullptr;
};

/// What a model declares of an input or output: -1 where a dim is open.
struct TensorSpec {
  std::string name;
  DataType type = DataType::kFloat;
  std::vector<int64_t> shape;
};

}  // namespace hasten::api
