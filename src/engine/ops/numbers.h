// Half and bfloat16 arithmetic, and dispatch from a DType to a C++ type.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "engine/ir/tensor.h"

namespace hasten {

inline float to_float(BFloat16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

/// Round to nearest even; NaN stays a quiet NaN.
inline BFloat16 to_bfloat16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return {static_cast<uint16_t>((u >> 16) | 0x40)};
  return {static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16)};
}

inline float to_float(Half h) {
  const uint32_t sign = uint32_t{h.bits & 0x8000u} << 16;
  const uint32_t exponent = (h.bits >> 10) & 0x1f;
  uint32_t mantissa = h.bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0) {
    // Subnormal: mantissa * 2^-24, exact in float.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

/// Round to nearest even; overflow gives infinity (case: 65519.99 -> 65504, 65520 -> inf).
inline Half to_half(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  const auto sign = static_cast<uint16_t>((u >> 16) & 0x8000);
  const uint32_t a = u & 0x7fffffff;
  if (a > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00 | ((a >> 13) & 0x3ff))};
  if (a >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};
  if (a < 0x38800000) {
    // Subnormal half: adding 0.5 lets the hardware round at 2^-24.
    const float rounded = std::bit_cast<float>(a) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - 0x3f000000u))};
  }
  const uint32_t rounded = a + 0xfff + ((a >> 13) & 1) - 0x38000000u;
  return {static_cast<uint16_t>(sign | rounded >> 13)};
}

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
    case DType::kF32: f(float{}); return true;
    case DType::kF64: f(double{}); return true;
    case DType::kF16: f(Half{}); return true;
    case DType::kBF16: f(BFloat16{}); return true;
    default: return false;
  }
}
template <class F>
bool dispatch_int(DType t, F&& f) {
  switch (t) {
    case DType::kI8: f(int8_t{}); return true;
    case DType::kI16: f(int16_t{}); return true;
    case DType::kI32: f(int32_t{}); return true;
    case DType::kI64: f(int64_t{}); return true;
    case DType::kU8: f(uint8_t{}); return true;
    case DType::kU16: f(uint16_t{}); return true;
    case DType::kU32: f(uint32_t{}); return true;
    case DType::kU64: f(uint64_t{}); return true;
    default: return false;
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

/// Copies n elements, strings included.
inline void copy_elements(DType t, const void* from, void* to, int64_t n) {
  if (t == DType::kString) {
    const auto* strings = static_cast<const std::string*>(from);
    std::copy(strings, strings + n, static_cast<std::string*>(to));
  } else if (n > 0) {
    std::memcpy(to, from, static_cast<size_t>(n) * dtype_size(t));
  }
}

}  // namespace hasten
