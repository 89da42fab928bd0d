// Conversions of half and bfloat16 numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

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

}  // namespace hasten
