// What follows a convolution's sums, on sixteen lanes.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

HASTEN_INLINE F16 activate(F16 x, int32_t kind, float a, float b) {
  switch (kind) {
    case kActivationRelu:
      return max(x, set1(0.0f));
    case kActivationClip:
      return min(max(x, set1(a)), set1(b));
    case kActivationLeakyRelu: {
      const F16 scaled = mul(x, set1(a));
      HASTEN_EACH x.v[i_] = hn::IfThenElse(hn::Lt(x.v[i_], hn::Zero(DF())), scaled.v[i_], x.v[i_]);
      return x;
    }
    case kActivationHardSigmoid:
      return min(max(fma(x, set1(a), set1(b)), set1(0.0f)), set1(1.0f));
    case kActivationHardSwish:
      return mul(x, min(max(fma(x, set1(1.0f / 6.0f), set1(0.5f)), set1(0.0f)), set1(1.0f)));
    default:
      return x;
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
