// Moving elements of any size: 1 to 8 bytes as numbers, pixels of 64, any other through memcpy.
// Places need no alignment.
#pragma once

#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

/// N bytes that travel together.
template <int64_t N>
struct Bytes {
  char bytes[N];
};

template <int64_t N>
HASTEN_INLINE void move_one(char* to, const char* from) {
  __builtin_memcpy(to, from, N);
}

/// Calls f(std::integral_constant-like) with the element size as a constant where it is a usual
/// one, or 0: then the size is only known at run time.
template <int64_t N>
struct Size {
  static constexpr int64_t value = N;
};
template <class F>
HASTEN_INLINE void with_size(int64_t size, const F& f) {
  switch (size) {
    case 1:
      return f(Size<1>());
    case 2:
      return f(Size<2>());
    case 4:
      return f(Size<4>());
    case 8:
      return f(Size<8>());
    case 16:
      return f(Size<16>());
    case 32:
      return f(Size<32>());
    case 64:
      return f(Size<64>());
    default:
      return f(Size<0>());
  }
}

template <int64_t N>
HASTEN_INLINE void move_element(char* to, const char* from, int64_t size) {
  if constexpr (N == 0) {
    memcpy(to, from, static_cast<size_t>(size));
  } else {
    move_one<N>(to, from);
  }
}

/// n elements of N (or `size`) bytes with steps in bytes.
template <int64_t N>
HASTEN_INLINE void move_run(char* out, int64_t out_step, const char* in, int64_t in_step, int64_t n,
                            int64_t size) {
  if (in_step == size && out_step == size) {
    memcpy(out, in, static_cast<size_t>(n * size));
    return;
  }
  if constexpr (N == 1 || N == 2 || N == 4 || N == 8) {
    if (in_step == 0 && out_step == N) {
      Bytes<N> value;
      move_one<N>(value.bytes, in);
      for (int64_t i = 0; i < n; ++i) move_one<N>(out + i * N, value.bytes);
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i) move_element<N>(out + i * out_step, in + i * in_step, size);
}

}  // namespace HASTEN_NS
}  // namespace hasten
