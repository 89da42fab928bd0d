// The one source of random numbers: a stream that can be entered anywhere, so that element i is the
// same whoever computes it; and the functions that shape them, without libm, whose last bits differ
// between processors.
#pragma once

#include <cstdint>

#include "engine/ops/op.h"

namespace hasten {

/// SplitMix64 (Steele, Lea, Flood 2014) by position.
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed) : seed_(seed) {}
  /// Number i of the stream: 64 random bits.
  uint64_t bits(uint64_t i) const {
    uint64_t z = seed_ + (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Evenly spread over [0, 1), of 53 bits.
  double uniform(uint64_t i) const { return static_cast<double>(bits(i) >> 11) * 0x1p-53; }
  /// Of the normal distribution with mean 0 and deviation 1 (Box and Muller), made of the numbers
  /// 2i and 2i+1.
  double normal(uint64_t i) const;

 private:
  uint64_t seed_;
};

/// The stream of a node: of its attribute 'seed', the same in each run; or, without, another one
/// each time, from the operating system. Errors: invalid_model for a seed that is no number;
/// internal.
Result<RandomStream> random_stream(const OpContext& c);

/// e^x for x <= 0, within 2 units in the last place.
double portable_exp(double x);

/// Attribute 'dtype', or `otherwise` where it is absent; is it among `allowed` (a set of
/// elementwise.h)? Errors: invalid_model; unsupported for types that we don't have.
Result<DType> random_dtype(const OpContext& c, DType otherwise, uint32_t allowed);

/// The rows of the operators that draw each element from one distribution: of the name's shape
/// attribute or input.
std::vector<OpDef> random_fill(const char* name, bool normal, bool like);

}  // namespace hasten
