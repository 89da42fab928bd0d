// The plain loops behind Conv and ConvTranspose.
#include "engine/ops/convolution_reference.h"

namespace hasten {

namespace {

template <class T>
void run(RefContext& c, const Convolution& v, T* y) {
  using C = typename Compute<T>::type;
  const T *x = c.in(0).as<T>(), *w = c.in(1).as<T>(), *bias = c.in(2).as<T>();
  const T* residual = c.in(3).as<T>();
  reference_windows<C>(
      v,
      [&](C sum, int64_t from, int64_t weight) {
        return std::fma(Compute<T>::load(x[from]), Compute<T>::load(w[weight]), sum);
      },
      [&](int64_t to, int64_t channel, C sum) {
        if (bias) sum += Compute<T>::load(bias[channel]);
        if (residual) sum += Compute<T>::load(residual[to]);
        y[to] = Compute<T>::store(apply_activation(v.activation, sum));
      });
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
