// Normalization of rows; the factors of batch normalization.
#include "engine/kernels/math.h"
#include "engine/kernels/reduce_args.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

/// The sum of each(x) over a row, in four times sixteen lanes.
template <class Each>
HASTEN_INLINE float sum_of_row(const float* x, int64_t n, Each each) {
  const F16 zero = set1(0.0f);
  F16 s[4] = {zero, zero, zero, zero};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) s[k] = each(load(x + i + k * kLanes), s[k], int64_t{kLanes});
  }
  for (; i + kLanes <= n; i += kLanes) s[0] = each(load(x + i), s[0], int64_t{kLanes});
  if (i < n) s[1] = each(load_n(x + i, n - i), s[1], n - i);
  return sum_lanes(add(add(s[0], s[1]), add(s[2], s[3])));
}

/// Mean and 1 / sqrt(variance + epsilon) of a row.
struct RowStatistics {
  float mean, factor;
};
HASTEN_INLINE RowStatistics statistics_of_row(const float* x, int64_t n, float epsilon) {
  const auto plain = [](F16 v, F16 sum, int64_t) { return add(sum, v); };
  const float mean = sum_of_row(x, n, plain) / static_cast<float>(n);
  const F16 m = set1(mean);
  const auto squares = [m](F16 v, F16 sum, int64_t lanes) __attribute__((always_inline)) {
    F16 d = sub(v, m);
    if (lanes < kLanes) {
      // The lanes past the end hold 0 - mean.
      alignas(64) float x[kLanes] = {};
      store_n(d, x, lanes);
      d = load(x);
    }
    return fma(d, d, sum);
  };
  const float variance = sum_of_row(x, n, squares) / static_cast<float>(n);
  alignas(64) float lanes[kLanes];
  store(div(set1(1.0f), sqrt(set1(variance + epsilon))), lanes);
  return {mean, lanes[0]};
}

}  // namespace

void layer_norm_f32(const LayerNormArgs* a, int64_t begin, int64_t end) {
  const int64_t n = a->n;
  for (int64_t row = begin; row < end; ++row) {
    const float* x = a->x + row * n;
    float* out = a->out + row * n;
    const RowStatistics s = statistics_of_row(x, n, a->epsilon);
    const F16 m = set1(s.mean), factor = set1(s.factor);
    if (a->mean) a->mean[row] = s.mean;
    if (a->deviation) a->deviation[row] = s.factor;
    for (int64_t i = 0; i < n; i += kLanes) {
      const int64_t left = n - i;
      const F16 centred = mul(sub(load_n(x + i, left), m), factor);
      const F16 shift = a->shift ? load_n(a->shift + i, left) : set1(0.0f);
      store_n(fma(centred, load_n(a->scale + i, left), shift), out + i, left);
    }
  }
}

void group_norm_f32(const GroupNormArgs* a, int64_t begin, int64_t end) {
  const int64_t n = a->channels * a->pixels;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t group = row % a->groups;
    const RowStatistics s = statistics_of_row(a->x + row * n, n, a->epsilon);
    const F16 m = set1(s.mean), factor = set1(s.factor);
    for (int64_t c = 0; c < a->channels; ++c) {
      const float* x = a->x + row * n + c * a->pixels;
      float* out = a->out + row * n + c * a->pixels;
      const int64_t at = a->per_group ? group : group * a->channels + c;
      const F16 scale = set1(a->scale[at]), shift = set1(a->shift[at]);
      for (int64_t i = 0; i < a->pixels; i += kLanes) {
        const int64_t left = a->pixels - i;
        store_n(fma(mul(sub(load_n(x + i, left), m), factor), scale, shift), out + i, left);
      }
    }
  }
}

void lrn_f32(const LrnArgs* a, int64_t begin, int64_t end) {
  const int64_t groups = (a->pixels + kLanes - 1) / kLanes;
  const F16 alpha = set1(a->alpha), bias = set1(a->bias), exponent = set1(-a->beta);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t first = item % groups * kLanes, left = a->pixels - first;
    const int64_t start = item / groups * a->channels * a->pixels + first;
    for (int64_t c = 0; c < a->channels; ++c) {
      const int64_t from = c > a->before ? c - a->before : 0;
      const int64_t rest = a->channels - 1 - c;
      const int64_t to = c + (rest < a->after ? rest : a->after);
      F16 sum = set1(0.0f);
      for (int64_t k = from; k <= to; ++k) {
        const F16 v = load_n(a->x + start + k * a->pixels, left);
        sum = fma(v, v, sum);
      }
      const F16 factor = exp(mul(exponent, log(fma(sum, alpha, bias))));
      const F16 x = load_n(a->x + start + c * a->pixels, left);
      store_n(mul(x, factor), a->out + start + c * a->pixels, left);
    }
  }
}

void batch_norm_factors_f32(const BatchNormArgs* a, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += kLanes) {
    const int64_t n = end - i;
    const F16 deviation = sqrt(add(load_n(a->variance + i, n), set1(a->epsilon)));
    const F16 factor = div(load_n(a->scale + i, n), deviation);
    store_n(factor, a->factor + i, n);
    store_n(fma(neg(load_n(a->mean + i, n)), factor, load_n(a->shift + i, n)), a->offset + i, n);
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
