// The plain loops behind the references of convolutions.
#pragma once

#include "engine/ops/convolution.h"

namespace hasten {

/// Input position of tap k for output o, or -1 if it lies outside the input or between its pixels.
inline int64_t input_position(const WindowAxis& a, int64_t o, int64_t k) {
  int64_t at = a.transposed ? o + a.pad - k * a.dilation : o * a.stride - a.pad + k * a.dilation;
  if (a.transposed) {
    if (at < 0 || at % a.stride != 0) return -1;
    at /= a.stride;
  }
  return at >= 0 && at < a.in ? at : -1;
}

/// Counts `at` up by one over [0, size) with the last axis fastest; false after the last.
template <class Size>
bool advance(Dims& at, const Size& size) {
  for (size_t i = at.size(); i-- > 0;) {
    if (++at[i] < size(i)) return true;
    at[i] = 0;
  }
  return false;
}

/// For each output: sum = add(sum, index in x, index in w) from 0 over the taps inside the input,
/// in the order that docs/numerics.md gives; then put(index in y, output channel, sum).
template <class Sum, class Add, class Put>
void reference_windows(const Convolution& v, Add&& add, Put&& put) {
  const size_t rank = v.axes.size();
  int64_t in_pixels = 1, out_pixels = 1, taps = 1;
  for (const WindowAxis& a : v.axes) {
    in_pixels *= a.in;
    out_pixels *= a.out;
    taps *= a.kernel;
  }
  if (out_pixels == 0) return;
  for (int64_t plane = 0; plane < v.images * v.groups * v.group_out; ++plane) {
    const int64_t out = plane % v.group_out, group = plane / v.group_out % v.groups;
    const int64_t image = plane / v.group_out / v.groups;
    const int64_t x_group = (image * v.groups + group) * v.group_in * in_pixels;
    Dims at(rank, 0);
    for (int64_t pixel = 0; pixel < out_pixels; ++pixel) {
      Sum sum = 0;
      for (int64_t first = 0; first < v.group_in; first += kChannelBlock) {
        Dims tap(rank, 0);
        for (int64_t k = 0; k < taps; ++k) {
          int64_t from = 0;
          for (size_t i = 0; i < rank && from >= 0; ++i) {
            const int64_t position = input_position(v.axes[i], at[i], tap[i]);
            from = position < 0 ? -1 : from * v.axes[i].in + position;
          }
          for (int64_t in = first; from >= 0 && in < std::min(first + kChannelBlock, v.group_in);
               ++in) {
            sum =
                add(sum, x_group + in * in_pixels + from, weight_index(v, taps, group, out, in, k));
          }
          advance(tap, [&](size_t i) { return v.axes[i].kernel; });
        }
      }
      put(plane * out_pixels + pixel, group * v.group_out + out, sum);
      advance(at, [&](size_t i) { return v.axes[i].out; });
    }
  }
}

}  // namespace hasten
