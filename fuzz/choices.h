// Decisions out of a fuzzer's bytes.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/ir/tensor.h"

namespace hasten::fuzz {

/// Zeros once the bytes are used up.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  /// 0 to n - 1, n at most 2^16; at least 1.
  int below(int n) {
    if (at_ >= size_) return 0;
    int x = data_[at_++];
    if (n > 256 && at_ < size_) x |= data_[at_++] << 8;
    return x % n;
  }
  bool one_in(int n) { return below(n) == n - 1; }
  bool done() const { return at_ >= size_; }
  template <class T, size_t N>
  T of(const std::array<T, N>& list) {
    return list[static_cast<size_t>(below(static_cast<int>(N)))];
  }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

/// How numbers are spread.
enum class Spread : uint8_t {
  kSmall,     // in [-2, 2]
  kPositive,  // in (0, 2]
  kWhole,     // integers in [-4, 4]: ties and zeros
  kOnes,
  kSpecial,  // small, with NaN, zeros of both signs, denormals
  kExtreme,  // infinities and the ends of the range too
};

/// As many numbers as wanted of a few bytes (SplitMix64).
class Numbers {
 public:
  Numbers(uint64_t seed, Spread spread) : state_(seed * 0x9e3779b97f4a7c15), spread_(spread) {}
  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double next() {
    const double small = static_cast<double>(bits() >> 11) * 0x1p-51 - 2;
    switch (spread_) {
      case Spread::kOnes:
        return 1;
      case Spread::kWhole:
        return std::floor(small * 2 + 0.5);
      case Spread::kPositive:
        return std::abs(small) + 1e-3;
      case Spread::kSpecial: {
        constexpr std::array kValues{NAN, 0.0F, -0.0F, 1e-40F, 0.5F, -0.5F, 2.5F, 100.0F};
        const uint64_t pick = bits() % 24;
        return pick < kValues.size() ? kValues[pick] : small;
      }
      case Spread::kExtreme: {
        constexpr std::array kValues{NAN,     0.0F,     -0.0F, 1e-45F, INFINITY, -INFINITY,
                                     3.4e38F, -3.4e38F, 1e10F, -88.7F, 88.8F,    -104.0F};
        const uint64_t pick = bits() % 24;
        return pick < kValues.size() ? kValues[pick] : small;
      }
      case Spread::kSmall:
        break;
    }
    return small;
  }

 private:
  uint64_t state_;
  Spread spread_;
};

}  // namespace hasten::fuzz
