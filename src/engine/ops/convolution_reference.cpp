// The plain loops behind Conv and ConvTranspose.
#include "engine/ops/convolution.h"

namespace hasten {

namespace {

/// Input position of tap k for output o, or -1 if it lies outside the input or between its pixels.
int64_t input_position(const WindowAxis& a, int64_t o, int64_t k) {
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

template <class T>
void run(RefContext& c, const Convolution& v, T* y) {
  using C = typename Compute<T>::type;
  const T *x = c.in(0).as<T>(), *w = c.in(1).as<T>(), *bias = c.in(2).as<T>();
  const T* residual = c.in(3).as<T>();
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
    const T* x_group = x + (image * v.groups + group) * v.group_in * in_pixels;
    Dims at(rank, 0);
    for (int64_t pixel = 0; pixel < out_pixels; ++pixel) {
      C sum = 0;
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
            sum = std::fma(Compute<T>::load(x_group[in * in_pixels + from]),
                           Compute<T>::load(w[weight_index(v, taps, group, out, in, k)]), sum);
          }
          advance(tap, [&](size_t i) { return v.axes[i].kernel; });
        }
      }
      if (bias) sum += Compute<T>::load(bias[group * v.group_out + out]);
      if (residual) sum += Compute<T>::load(residual[plane * out_pixels + pixel]);
      y[plane * out_pixels + pixel] = Compute<T>::store(apply_activation(v.activation, sum));
      advance(at, [&](size_t i) { return v.axes[i].out; });
    }
  }
}

}  // namespace

Status reference_convolution(RefContext& c, const Convolution& v, const Dims& out) {
  const DType dtype = c.in(0).dtype;
  HASTEN_TRY(void* y, c.out(0, dtype, out));
  const bool known = dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    run<T>(c, v, static_cast<T*>(y));
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(dtype));
  return {};
}

}  // namespace hasten
