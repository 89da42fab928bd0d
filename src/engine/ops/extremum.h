// Max, Min, Sum and Mean: one implementation of a folding of any number of broadcast inputs.
#pragma once

#include <cmath>
#include <vector>

#include "engine/ops/elementwise.h"

namespace hasten {

/// out = better(…better(in0, in1)…, in n-1).
template <class F>
Status reference_fold(RefContext& c, F&& better) {
  const DType dtype = c.in(0).dtype;
  const size_t inputs = c.inputs();
  Dims dims;
  for (size_t k = 0; k < inputs; ++k) {
    HASTEN_TRY(dims, broadcast_dims(dims, c.in(k).dims));
  }
  HASTEN_TRY(void* memory, c.out(0, dtype, dims));
  const bool known = dispatch_number(dtype, [&](auto t) {
    using T = decltype(t);
    using C = typename Compute<T>::type;
    T* out = static_cast<T*>(memory);
    for (size_t k = 0; k < inputs; ++k) {
      const TensorView& in = c.in(k);
      const Dims strides = broadcast_strides(in.dims, dims);
      for_each_broadcast(dims, strides, strides, [&](int64_t i, int64_t at, int64_t) {
        const C x = Compute<T>::load(in.as<T>()[at]);
        out[i] =
            Compute<T>::store(k == 0 ? x : static_cast<C>(better(Compute<T>::load(out[i]), x)));
      });
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(dtype));
  return {};
}

/// The sum of the inputs, in double, over `divisor`; rounded once.
Status reference_sum(RefContext& c, double divisor);

/// Lowers to one kernel call for each input after the first; then divides by `divisor`, unless it
/// is 1.
Status lower_fold(LowerContext& c, const char* name, BroadcastKernel kernel, float divisor = 1);

}  // namespace hasten
