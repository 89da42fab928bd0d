// What follows the sums of matrix products, convolutions and recurrent cells, on sixteen lanes.
#pragma once

#include "engine/kernels/activation_args.h"
#include "engine/kernels/math.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

/// Not inline: so many kinds at each of many places would take the compiler minutes.
[[maybe_unused]] __attribute__((noinline)) F16 activate(F16 x, int32_t kind, float a, float b) {
  switch (kind) {
    case kActivationRelu:
      return relu(x);
    case kActivationClip:
      return clip(x, a, b);
    case kActivationLeakyRelu:
      return leaky_relu(x, a);
    case kActivationHardSigmoid:
      return hard_sigmoid(x, a, b);
    case kActivationHardSwish:
      return hard_swish(x);
    case kActivationSigmoid:
      return sigmoid(x);
    case kActivationTanh:
      return tanh(x);
    case kActivationSilu:
      return silu(x);
    case kActivationGelu:
      return gelu(x);
    case kActivationAffine:
      return fma(x, set1(a), set1(b));
    case kActivationThresholdedRelu:
      return select(lt(x, set1(a)), set1(0.0f), x);
    case kActivationScaledTanh:
      return mul(set1(a), tanh(mul(set1(b), x)));
    case kActivationElu:
      return select(lt(x, set1(0.0f)), mul(set1(a), expm1(x)), x);
    case kActivationSoftsign:
      return div(x, add(set1(1.0f), abs(x)));
    case kActivationSoftplus:
      return softplus(x);
    default:
      return x;
  }
}

}  // namespace

}  // namespace HASTEN_NS
}  // namespace hasten
