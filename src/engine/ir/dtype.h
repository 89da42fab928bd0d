// Element types. Numbers are those of onnx.TensorProto.DataType.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hasten {

enum class DType : uint8_t {
  kNone = 0,  // unknown
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kU16 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kString = 8,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kU32 = 12,
  kU64 = 13,
  kBF16 = 16,
  // Not element types of ONNX: a sequence is a tensor [n] of tensors, an optional one of none or
  // one (a tensor or a sequence).
  kSequence = 64,
  kOptional = 65,
};

/// True where elements are not plain bytes: strings, and what holds tensors.
constexpr bool holds_objects(DType t) {
  return t == DType::kString || t == DType::kSequence || t == DType::kOptional;
}

/// "f32", "i64", … as printed and parsed in graph text; "?" for kNone.
const char* dtype_name(DType dtype);
/// The inverse of dtype_name; kNone if unknown.
DType dtype_from_name(std::string_view name);
/// "float", "int64" … as ONNX names them, for any number of the proto, known to us or not.
const char* onnx_dtype_name(int number);
/// True for the numbers that we compute with.
bool dtype_supported(int onnx_number);

/// Bytes of one element; sizeof(std::string) for kString, sizeof(Tensor) for what holds tensors, 0
/// for kNone.
size_t dtype_size(DType dtype);

constexpr bool is_float(DType t) {
  return t == DType::kF32 || t == DType::kF64 || t == DType::kF16 || t == DType::kBF16;
}
constexpr bool is_signed_int(DType t) {
  return t == DType::kI8 || t == DType::kI16 || t == DType::kI32 || t == DType::kI64;
}
constexpr bool is_unsigned_int(DType t) {
  return t == DType::kU8 || t == DType::kU16 || t == DType::kU32 || t == DType::kU64;
}
constexpr bool is_int(DType t) { return is_signed_int(t) || is_unsigned_int(t); }

}  // namespace hasten
