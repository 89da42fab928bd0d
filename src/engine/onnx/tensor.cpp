#include "engine/onnx/tensor.h"

#include <bit>
#include <cstring>
#include <limits>
#include <protozero/varint.hpp>

namespace hasten::onnx {

static_assert(std::endian::native == std::endian::little, "ONNX files are little-endian");

namespace {

/// Which typed field holds the elements of a dtype, and how its elements are encoded.
enum class Field { kFloat, kInt32, kInt64, kDouble, kUint64, kString };

Field field_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return Field::kFloat;
    case DType::kF64:
      return Field::kDouble;
    case DType::kI64:
      return Field::kInt64;
    case DType::kU32:
    case DType::kU64:
      return Field::kUint64;
    case DType::kString:
      return Field::kString;
    default:
      return Field::kInt32;
  }
}

struct Typed {
  Field field;
  const char* name;
  const Chunks* chunks;
};

std::vector<Typed> typed_fields(const TensorProto& p) {
  return {{Field::kFloat, "float_data", &p.float_data},
          {Field::kInt32, "int32_data", &p.int32_data},
          {Field::kInt64, "int64_data", &p.int64_data},
          {Field::kDouble, "double_data", &p.double_data},
          {Field::kUint64, "uint64_data", &p.uint64_data},
          {Field::kString, "string_data", &p.string_data}};
}

/// Encoded varints: each ends with a byte below 0x80.
int64_t count_varints(const Chunks& chunks) {
  int64_t n = 0;
  for (Bytes chunk : chunks) {
    for (std::byte b : chunk) n += (static_cast<unsigned>(b) & 0x80) == 0;
  }
  return n;
}

int64_t count_bytes(const Chunks& chunks) {
  int64_t n = 0;
  for (Bytes chunk : chunks) n += static_cast<int64_t>(chunk.size());
  return n;
}

/// Elements in the file's field, by counting only.
int64_t count_elements(const Typed& typed) {
  switch (typed.field) {
    case Field::kFloat:
      return count_bytes(*typed.chunks) / 4;
    case Field::kDouble:
      return count_bytes(*typed.chunks) / 8;
    case Field::kString:
      return static_cast<int64_t>(typed.chunks->size());
    default:
      return count_varints(*typed.chunks);
  }
}

template <class T>
Status read_varints(const Chunks& chunks, int64_t low, uint64_t high, bool is_signed, T* out) {
  int64_t i = 0;
  for (Bytes chunk : chunks) {
    const char* p = reinterpret_cast<const char*>(chunk.data());
    const char* end = p + chunk.size();
    while (p != end) {
      uint64_t value = 0;
      try {
        value = protozero::decode_varint(&p, end);
      } catch (const protozero::exception& e) {
        return fail(Code::kInvalidModel, "element {} is damaged: {}", i, e.what());
      }
      const auto as_signed = static_cast<int64_t>(value);
      if (is_signed ? as_signed < low || (as_signed > 0 && value > high) : value > high) {
        return is_signed
                   ? fail(Code::kInvalidModel, "element {} is {}, beyond the dtype", i, as_signed)
                   : fail(Code::kInvalidModel, "element {} is {}, beyond the dtype", i, value);
      }
      out[i++] = static_cast<T>(value);
    }
  }
  return {};
}

template <class T>
Status read_ints(const Chunks& chunks, Tensor& out) {
  // int32_data and int64_data hold signed numbers, uint64_data unsigned ones.
  constexpr bool is_signed = std::is_signed_v<T> || sizeof(T) < 4;
  return read_varints<T>(chunks, static_cast<int64_t>(std::numeric_limits<T>::min()),
                         static_cast<uint64_t>(std::numeric_limits<T>::max()), is_signed,
                         out.mutable_as<T>());
}

Status read_typed(const Typed& typed, Tensor& out) {
  const Chunks& chunks = *typed.chunks;
  switch (out.dtype()) {
    case DType::kF32:
    case DType::kF64: {
      auto* to = out.mutable_as<std::byte>();
      for (Bytes chunk : chunks) {
        if (!chunk.empty()) std::memcpy(to, chunk.data(), chunk.size());
        to += chunk.size();
      }
      return {};
    }
    case DType::kString: {
      auto* to = out.mutable_as<std::string>();
      for (Bytes s : chunks) (to++)->assign(reinterpret_cast<const char*>(s.data()), s.size());
      return {};
    }
    case DType::kI8:
      return read_ints<int8_t>(chunks, out);
    case DType::kU8:
      return read_ints<uint8_t>(chunks, out);
    case DType::kI16:
      return read_ints<int16_t>(chunks, out);
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return read_ints<uint16_t>(chunks, out);
    case DType::kI32:
      return read_ints<int32_t>(chunks, out);
    case DType::kI64:
      return read_ints<int64_t>(chunks, out);
    case DType::kU32:
      return read_ints<uint32_t>(chunks, out);
    case DType::kU64:
      return read_ints<uint64_t>(chunks, out);
    case DType::kBool:
      return read_varints<uint8_t>(chunks, 0, 1, true, out.mutable_as<uint8_t>());
    case DType::kNone:
    case DType::kSequence:
    case DType::kOptional:
      break;
  }
  return fail(Code::kInternal, "no reader for dtype {}", dtype_name(out.dtype()));
}

/// A bool other than 0 and 1 would be undefined behaviour later.
Status check_bools(Bytes bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (static_cast<unsigned>(bytes[i]) > 1) {
      return fail(Code::kInvalidModel, "element {} is {}, a bool is 0 or 1", i,
                  static_cast<unsigned>(bytes[i]));
    }
  }
  return {};
}

Result<Tensor> from_bytes(DType dtype, Dims dims, Bytes bytes,
                          const std::shared_ptr<const void>& owner) {
  if (dtype == DType::kBool) HASTEN_CHECK(check_bools(bytes));
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  if (owner && !bytes.empty() && address % dtype_size(dtype) == 0) {
    return Tensor::borrow(dtype, std::move(dims), bytes.data(), owner);
  }
  HASTEN_TRY(Tensor tensor, Tensor::make(dtype, std::move(dims)));
  if (!bytes.empty()) std::memcpy(tensor.mutable_data(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace

Result<DType> decode_dtype(int32_t number) {
  if (dtype_supported(number)) return static_cast<DType>(number);
  const std::string name = onnx_dtype_name(number);
  if (number == 0 || name == "unknown") {
    return fail(Code::kInvalidModel, "data type {} doesn't exist", number);
  }
  return fail(Code::kUnsupported, "data type {} is not supported", name);
}

Result<Tensor> decode_tensor(const TensorProto& p, const std::shared_ptr<const void>& owner,
                             ExternalFiles& external) {
  HASTEN_TRY(const DType dtype, decode_dtype(p.data_type));
  HASTEN_TRY(const int64_t count, checked_count(p.dims));
  if (p.has_segment) return fail(Code::kUnsupported, "tensors in segments are not supported");
  const auto element = static_cast<int64_t>(dtype_size(dtype));
  if (count > INT64_MAX / 2 / element) {
    return fail(Code::kInvalidModel, "shape {} has too many elements", dims_text(p.dims));
  }
  const int64_t size = count * element;
  const std::string type = fmt::format("{}{}", dtype_name(dtype), dims_text(p.dims));

  // Some writers set an empty raw_data beside the field that counts.
  const bool has_raw = p.raw_data && !p.raw_data->empty();
  const Typed* typed = nullptr;
  const std::vector<Typed> fields = typed_fields(p);
  for (const Typed& field : fields) {
    if (field.chunks->empty()) continue;
    if (typed || has_raw) {
      return fail(Code::kInvalidModel, "its elements are given twice, in {} and in {}",
                  typed ? typed->name : "raw_data", field.name);
    }
    typed = &field;
  }
  if (p.data_location == 1) {
    if (typed || has_raw) {
      return fail(Code::kInvalidModel, "its elements are given twice, in {} and in external data",
                  typed ? typed->name : "raw_data");
    }
    if (dtype == DType::kString) {
      return fail(Code::kInvalidModel, "strings can't be in external data");
    }
    HASTEN_TRY(const ExternalFiles::Slice slice, external.slice(p, static_cast<size_t>(size)));
    return from_bytes(dtype, p.dims, slice.bytes, slice.owner);
  }
  if (p.data_location != 0) {
    return fail(Code::kInvalidModel, "data_location {} doesn't exist", p.data_location);
  }
  if (!p.external_data.empty()) {
    return fail(Code::kInvalidModel, "has external_data, but data_location doesn't say so");
  }
  if (p.raw_data && !typed) {
    if (dtype == DType::kString) return fail(Code::kInvalidModel, "strings can't be in raw_data");
    if (static_cast<int64_t>(p.raw_data->size()) != size) {
      return fail(Code::kInvalidModel, "raw_data has {} bytes, {} needs {}", p.raw_data->size(),
                  type, size);
    }
    return from_bytes(dtype, p.dims, *p.raw_data, owner);
  }
  if (typed && typed->field != field_of(dtype)) {
    return fail(Code::kInvalidModel, "elements of {} can't be in {}", type, typed->name);
  }
  const int64_t have = typed ? count_elements(*typed) : 0;
  if (have != count) {
    return typed ? fail(Code::kInvalidModel, "{} has {} elements, {} needs {}", typed->name, have,
                        type, count)
                 : fail(Code::kInvalidModel, "it has no elements, {} needs {}", type, count);
  }
  if (typed) {
    const int64_t width = typed->field == Field::kFloat    ? 4
                          : typed->field == Field::kDouble ? 8
                                                           : 1;
    if (typed->field != Field::kString && count_bytes(*typed->chunks) % width != 0) {
      return fail(Code::kInvalidModel, "{} has a broken length", typed->name);
    }
    if (width > 1 && typed->chunks->size() == 1) {
      return from_bytes(dtype, p.dims, typed->chunks->front(), owner);
    }
  }
  HASTEN_TRY(Tensor tensor, Tensor::make(dtype, p.dims));
  if (typed) HASTEN_CHECK(read_typed(*typed, tensor));
  return tensor;
}

}  // namespace hasten::onnx
