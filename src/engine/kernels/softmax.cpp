// Softmax: e^(x - largest) over its sum, along rows or across them.
#include "engine/kernels/math.h"
#include "engine/kernels/reduce_args.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

HASTEN_INLINE F16 max4(const F16 (&s)[4]) {
  return max_nan(max_nan(s[0], s[1]), max_nan(s[2], s[3]));
}
HASTEN_INLINE F16 sum4(const F16 (&s)[4]) { return add(add(s[0], s[1]), add(s[2], s[3])); }

HASTEN_INLINE F16 largest_of_row(const float* x, int64_t n) {
  const F16 start = set1(-HUGE_VALF);
  F16 s[4] = {start, start, start, start};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) s[k] = max_nan(s[k], load(x + i + k * kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) s[0] = max_nan(s[0], load(x + i));
  if (i < n) s[1] = max_nan(s[1], load_or(x + i, n - i, start));
  return set1(fold_lanes(max4(s), [](auto p, auto q) {
    return hn::IfThenElse(hn::Or(hn::Lt(p, q), hn::IsNaN(q)), q, p);
  }));
}

/// The sum of each(offset, lanes) over the row, whose last vector may be short.
template <class Each>
HASTEN_INLINE F16 sum_of_row(int64_t n, Each each) {
  const F16 zero = set1(0.0f);
  F16 s[4] = {zero, zero, zero, zero};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) s[k] = add(s[k], each(i + k * kLanes, int64_t{kLanes}));
  }
  for (; i + kLanes <= n; i += kLanes) s[0] = add(s[0], each(i, int64_t{kLanes}));
  if (i < n) s[1] = add(s[1], each(i, n - i));
  return set1(sum_lanes(sum4(s)));
}

HASTEN_INLINE void softmax_row(const SoftmaxArgs* a, const float* x, float* out) {
  const int64_t n = a->n;
  const F16 largest = largest_of_row(x, n);
  // Lanes past the end: -inf, which adds nothing.
  const F16 none = set1(-HUGE_VALF);
  const F16 sum = sum_of_row(
      n, [&](int64_t i, int64_t left) __attribute__((always_inline)) {
        const F16 e = exp_negative(sub(load_or(x + i, left, none), largest));
        if (!a->log) store_n(e, out + i, left);
        return e;
      });
  int64_t i = 0;
  if (a->log) {
    const F16 shift = add(largest, log(sum));
    for (; i + kLanes <= n; i += kLanes) store(sub(load(x + i), shift), out + i);
    if (i < n) store_n(sub(load_n(x + i, n - i), shift), out + i, n - i);
  } else {
    const F16 factor = div(set1(1.0f), sum);
    for (; i + kLanes <= n; i += kLanes) store(mul(load(out + i), factor), out + i);
    if (i < n) store_n(mul(load_n(out + i, n - i), factor), out + i, n - i);
  }
}

/// Sixteen neighbours (the first `lanes` of them), each down its column.
HASTEN_INLINE void softmax_columns(const SoftmaxArgs* a, const float* x, float* out,
                                   int64_t lanes) {
  const int64_t n = a->n, step = a->inner;
  const F16 start = set1(-HUGE_VALF), zero = set1(0.0f);
  F16 s[4] = {start, start, start, start};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) s[k] = max_nan(s[k], load_n(x + (i + k) * step, lanes));
  }
  for (; i < n; ++i) s[0] = max_nan(s[0], load_n(x + i * step, lanes));
  const F16 largest = max4(s);
  F16 sum = zero;
  for (i = 0; i < n; ++i) {
    const F16 e = exp_negative(sub(load_n(x + i * step, lanes), largest));
    if (!a->log) store_n(e, out + i * step, lanes);
    sum = add(sum, e);
  }
  const F16 shift = add(largest, log(sum)), factor = div(set1(1.0f), sum);
  for (i = 0; i < n; ++i) {
    const F16 y = a->log ? sub(load_n(x + i * step, lanes), shift)
                         : mul(load_n(out + i * step, lanes), factor);
    store_n(y, out + i * step, lanes);
  }
}

}  // namespace

void softmax_f32(const SoftmaxArgs* a, int64_t begin, int64_t end) {
  if (a->along_rows) {
    for (int64_t row = begin; row < end; ++row)
      softmax_row(a, a->x + row * a->n, a->out + row * a->n);
    return;
  }
  const int64_t groups = (a->inner + kLanes - 1) / kLanes;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t column = item % groups * kLanes;
    const int64_t at = item / groups * a->n * a->inner + column;
    const int64_t lanes = a->inner - column < kLanes ? a->inner - column : kLanes;
    softmax_columns(a, a->x + at, a->out + at, lanes);
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
