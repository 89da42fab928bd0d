// Arguments of the kernels that measure peaks.
#pragma once

#include <stdint.h>

namespace hasten {

/// Multiply-adds in registers, x = x * factor + addend. Items: kPeakFmaPerItem of them.
struct PeakFmaArgs {
  float factor, addend;  // such that x stays normal: 0.5 and 1, say
  float* out;            // one value, so that the work counts
};
constexpr int kPeakFmaPerItem = 1280;

/// Reads every float of the items `rounds` times. Items: kPeakReadItem floats.
struct PeakReadArgs {
  const float* data;
  int64_t rounds;
  float* out;  // one value
};
constexpr int64_t kPeakReadItem = 256;

}  // namespace hasten
