// Parts of the scratch memory of a step.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hasten {

/// Collects the scratch memory of a step; offsets are multiples of 64 bytes.
struct Scratch {
  int64_t bytes = 0;

  template <class T>
  int64_t take(int64_t count) {
    const int64_t at = bytes;
    bytes = (bytes + count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    return at;
  }
  int64_t floats(int64_t count) { return take<float>(count); }
};

}  // namespace hasten
