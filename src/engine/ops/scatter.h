// What ScatterElements and ScatterND share: how an update meets the element that it lands on.
#pragma once

#include <string>

#include "engine/ops/numbers.h"
#include "engine/ops/op.h"

namespace hasten {

enum class Reduction { kNone, kAdd, kMul, kMax, kMin };

/// The attribute; add and mul since opset 16, max and min since 18.
Result<Reduction> reduction_of(const OpContext& c);
/// Is it defined for the dtype (kNone: for all)? Error: unsupported.
Status check_reduction(const OpContext& c, Reduction reduction, DType dtype);

/// old (reduction) update; integers wrap around, NaN wins.
template <class T>
T reduced(Reduction reduction, T old, T update) {
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
    return update;
  } else if constexpr (std::is_integral_v<T>) {
    using U = uint64_t;
    switch (reduction) {
      case Reduction::kNone:
        return update;
      case Reduction::kAdd:
        return static_cast<T>(static_cast<U>(old) + static_cast<U>(update));
      case Reduction::kMul:
        return static_cast<T>(static_cast<U>(old) * static_cast<U>(update));
      case Reduction::kMax:
        return std::max(old, update);
      case Reduction::kMin:
        return std::min(old, update);
    }
    return update;
  } else {
    if (reduction == Reduction::kNone) return update;
    const auto a = Compute<T>::load(old), b = Compute<T>::load(update);
    if (std::isnan(a)) return old;
    if (std::isnan(b)) return update;
    switch (reduction) {
      case Reduction::kAdd:
        return Compute<T>::store(a + b);
      case Reduction::kMul:
        return Compute<T>::store(a * b);
      case Reduction::kMax:
        return a < b ? update : old;
      default:
        return b < a ? update : old;
    }
  }
}

}  // namespace hasten
