// What follows the sums of matrix products, convolutions and recurrent cells, on sixteen lanes.
#pragma once

#include "engine/kernels/activation_args.h"
#include "engine/kernels/math.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

/// use(f) with f(x) the function of that kind, an inline one.
template <class Use>
HASTEN_INLINE void with_activation(int32_t kind, float a, float b, const Use& use) {
#define HASTEN_ACTIVATION(name, result)                                     \
  case kActivation##name:                                                   \
    use([=](F16 x) __attribute__((always_inline))->F16 { return result; }); \
    break;
  switch (kind) {
    HASTEN_ACTIVATION(Relu, relu(x))
    HASTEN_ACTIVATION(Clip, clip(x, a, b))
    HASTEN_ACTIVATION(LeakyRelu, leaky_relu(x, a))
    HASTEN_ACTIVATION(HardSigmoid, hard_sigmoid(x, a, b))
    HASTEN_ACTIVATION(HardSwish, hard_swish(x))
    HASTEN_ACTIVATION(Sigmoid, sigmoid(x))
    HASTEN_ACTIVATION(Tanh, tanh(x))
    HASTEN_ACTIVATION(Silu, silu(x))
    HASTEN_ACTIVATION(Gelu, gelu(x))
    HASTEN_ACTIVATION(Affine, fma(x, set1(a), set1(b)))
    HASTEN_ACTIVATION(ThresholdedRelu, select(lt(x, set1(a)), set1(0.0f), x))
    HASTEN_ACTIVATION(ScaledTanh, mul(set1(a), tanh(mul(set1(b), x))))
    HASTEN_ACTIVATION(Elu, select(lt(x, set1(0.0f)), mul(set1(a), expm1(x)), x))
    HASTEN_ACTIVATION(Softsign, div(x, add(set1(1.0f), abs(x))))
    HASTEN_ACTIVATION(Softplus, softplus(x))
    HASTEN_ACTIVATION(ReluAffine, add(mul(set1(a), relu(x)), set1(b)))
    HASTEN_ACTIVATION(HardSwishAffine, add(mul(set1(a), hard_swish(x)), set1(b)))
    default:
      break;
  }
#undef HASTEN_ACTIVATION
}

/// Not inline: so many kinds at each of many places would take the compiler minutes.
[[maybe_unused]] __attribute__((noinline)) F16 activate(F16 x, int32_t kind, float a, float b) {
  with_activation(
      kind, a, b, [&](auto f) __attribute__((always_inline)) { x = f(x); });
  return x;
}

/// The same in place on a matrix of floats. One call for many: the long chains of neighbours run
/// side by side, which they don't across calls of activate() (three times slower).
[[maybe_unused]] __attribute__((noinline)) void activate_all(float* x, int64_t rows,
                                                             int64_t row_step, int64_t cols,
                                                             int32_t kind, float a, float b) {
  with_activation(
      kind, a, b, [=](auto f) __attribute__((always_inline)) {
        for (int64_t r = 0; r < rows; ++r) {
          float* row = x + r * row_step;
          int64_t i = 0;
          for (; i + kLanes <= cols; i += kLanes) store(f(load(row + i)), row + i);
          if (i < cols) store_n(f(load_n(row + i, cols - i)), row + i, cols - i);
        }
      });
}

}  // namespace

}  // namespace HASTEN_NS
}  // namespace hasten
