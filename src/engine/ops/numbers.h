// Element types as C++ types: arithmetic in them, and dispatch from a DType.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "engine/ir/half.h"
#include "engine/ir/tensor.h"

namespace hasten {

/// The arithmetic type of an element type: float for the 16-bit floats, itself for the others.
template <class T>
struct Compute {
  using type = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};
template <>
struct Compute<Half> {
  using type = float;
  static float load(Half x) { return to_float(x); }
  static Half store(float x) { return to_half(x); }
};
template <>
struct Compute<BFloat16> {
  using type = float;
  static float load(BFloat16 x) { return to_float(x); }
  static BFloat16 store(float x) { return to_bfloat16(x); }
};

/// Calls f(T{}) with the C++ type of the dtype, if it is among Ts; returns whether it was.
template <class F>
bool dispatch_float(DType t, F&& f) {
  switch (t) {
    case DType::kF32:
      f(float{});
      return true;
    case DType::kF64:
      f(double{});
      return true;
    case DType::kF16:
      f(Half{});
      return true;
    case DType::kBF16:
      f(BFloat16{});
      return true;
    default:
      return false;
  }
}
template <class F>
bool dispatch_int(DType t, F&& f) {
  switch (t) {
    case DType::kI8:
      f(int8_t{});
      return true;
    case DType::kI16:
      f(int16_t{});
      return true;
    case DType::kI32:
      f(int32_t{});
      return true;
    case DType::kI64:
      f(int64_t{});
      return true;
    case DType::kU8:
      f(uint8_t{});
      return true;
    case DType::kU16:
      f(uint16_t{});
      return true;
    case DType::kU32:
      f(uint32_t{});
      return true;
    case DType::kU64:
      f(uint64_t{});
      return true;
    default:
      return false;
  }
}
template <class F>
bool dispatch_number(DType t, F&& f) {
  return dispatch_float(t, f) || dispatch_int(t, f);
}
template <class F>
bool dispatch_any(DType t, F&& f) {
  if (t == DType::kBool) {
    f(bool{});
    return true;
  }
  if (t == DType::kString) {
    f(std::string{});
    return true;
  }
  return dispatch_number(t, f);
}

}  // namespace hasten
