// Conversion of one number to another type: what Cast means, and others who need the same.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/ops/numbers.h"

namespace hasten {

/// A double as the float from which rounding again to fewer bits gives what rounding once would:
/// inexact results get an odd last bit.
inline float round_to_odd(double x) {
  const auto y = static_cast<float>(x);
  if (static_cast<double>(y) == x || std::isnan(x) || std::isinf(y)) return y;
  const uint32_t bits = std::bit_cast<uint32_t>(y);
  if (bits & 1) return y;
  // Even and not exact: the other neighbour of x is odd.
  const bool away = std::abs(static_cast<double>(y)) < std::abs(x);
  return std::bit_cast<float>(away ? bits + 1 : bits - 1);
}

/// The number as a To (an element type): floats round to nearest even; from float to integer
/// towards zero, to the nearest end where it does not fit, NaN to 0; integers wrap; not 0 is true.
template <class To, class From>
To convert_number(From x) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert_number<To>(to_float(x));
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    float f;
    if constexpr (std::is_same_v<From, double>) {
      f = round_to_odd(x);
    } else {
      f = static_cast<float>(x);
    }
    return Compute<To>::store(f);
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // Both ends are powers of two (or 0), exact in every float type.
    constexpr int kBits = std::numeric_limits<To>::digits;
    if (std::isnan(x)) return 0;
    if (x >= std::ldexp(From{1}, kBits)) return std::numeric_limits<To>::max();
    if (x < static_cast<From>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace hasten
