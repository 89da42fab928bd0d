#include "engine/ir/dtype.h"

#include <memory>
#include <string>

#include "engine/ir/tensor.h"

namespace hasten {

namespace {

struct Row {
  DType dtype;
  const char* name;
  size_t size;
};

constexpr Row kRows[] = {
    {DType::kF32, "f32", 4},
    {DType::kU8, "u8", 1},
    {DType::kI8, "i8", 1},
    {DType::kU16, "u16", 2},
    {DType::kI16, "i16", 2},
    {DType::kI32, "i32", 4},
    {DType::kI64, "i64", 8},
    {DType::kString, "str", sizeof(std::string)},
    {DType::kBool, "bool", 1},
    {DType::kF16, "f16", 2},
    {DType::kF64, "f64", 8},
    {DType::kU32, "u32", 4},
    {DType::kU64, "u64", 8},
    {DType::kBF16, "bf16", 2},
    {DType::kSequence, "seq", sizeof(Tensor)},
    {DType::kOptional, "optional", sizeof(Tensor)},
};

constexpr const char* kOnnxNames[] = {
    "undefined",      "float",      "uint8",          "int8",       "uint16",   "int16",
    "int32",          "int64",      "string",         "bool",       "float16",  "double",
    "uint32",         "uint64",     "complex64",      "complex128", "bfloat16", "float8e4m3fn",
    "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",     "float4e2m1",
    "float8e8m0",     "uint2",      "int2",
};

const Row* find(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return &row;
  }
  return nullptr;
}

}  // namespace

const char* dtype_name(DType dtype) {
  const Row* row = find(dtype);
  return row ? row->name : "?";
}

DType dtype_from_name(std::string_view name) {
  for (const Row& row : kRows) {
    if (name == row.name) return row.dtype;
  }
  return DType::kNone;
}

const char* onnx_dtype_name(int number) {
  if (number < 0 || number >= static_cast<int>(std::size(kOnnxNames))) return "unknown";
  return kOnnxNames[number];
}

bool dtype_supported(int onnx_number) {
  return onnx_number > 0 && onnx_number < static_cast<int>(DType::kSequence) &&
         find(static_cast<DType>(onnx_number)) != nullptr;
}

size_t dtype_size(DType dtype) {
  const Row* row = find(dtype);
  return row ? row->size : 0;
}

}  // namespace hasten
