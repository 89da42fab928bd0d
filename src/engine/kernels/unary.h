// How element-wise functions of one operand become kernels.
#pragma once

#include "engine/kernels/elementwise_args.h"
#include "engine/kernels/math.h"

namespace hasten {
namespace HASTEN_NS {

template <class F>
HASTEN_INLINE void unary(const UnaryArgs* a, int64_t begin, int64_t end, F f) {
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) store(f(load(a->x + i)), a->out + i);
  if (i < end) store_n(f(load_n(a->x + i, end - i)), a->out + i, end - i);
}

}  // namespace HASTEN_NS
}  // namespace hasten

/// Defines kernel `name`: `result` is an F16 made of x, alpha and beta.
#define HASTEN_UNARY(name, result)                                                    \
  void name(const UnaryArgs* a, int64_t begin, int64_t end) {                         \
    [[maybe_unused]] const float alpha = a->alpha, beta = a->beta;                    \
    unary(                                                                            \
        a, begin, end, [=](F16 x) __attribute__((always_inline)) { return result; }); \
  }
