// One row quantized by its own range, for products by 8-bit weights.
#pragma once

#include "engine/kernels/integer_args.h"
#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

/// The least and largest of k numbers and 0; NaN both if one is.
HASTEN_INLINE void min_max(const float* x, int64_t k, float* least, float* most) {
  F16 low = set1(0), high = set1(0), nan = set1(0);
  for (int64_t i = 0; i < k; i += kLanes) {
    const F16 v = load_n(x + i, k - i);  // what is past the end reads as 0
    low = min(v, low);
    high = max(v, high);
    HASTEN_EACH nan.v[i_] = hn::IfThenElse(hn::IsNaN(v.v[i_]), v.v[i_], nan.v[i_]);
  }
  const float bad = sum_lanes(nan);
  *least = fold_lanes(low, [](auto p, auto q) { return hn::Min(p, q); }) + bad;
  *most = fold_lanes(high, [](auto p, auto q) { return hn::Max(p, q); }) + bad;
}

/// See QuantizeRowsArgs.
HASTEN_INLINE void quantize_row_by(const DynamicRange& range, const float* x, int64_t k,
                                   int16_t* out, int32_t* sum_of, float* scale) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to nearest even
  const float least = static_cast<float>(-range.zero), most = static_cast<float>(255 - range.zero);
  uint32_t sum = 0;
  for (int64_t i = 0; i < k; ++i) {
    float q = x[i] / range.scale;
    q = q < least ? least : q;
    q = q > most ? most : q;
    q = q == q ? q : 0.0f;
    const int32_t v = static_cast<int32_t>((q + kRound) - kRound);
    out[i] = static_cast<int16_t>(v);
    sum += static_cast<uint32_t>(v);
  }
  if (k % 2) out[k] = 0;
  *sum_of = static_cast<int32_t>(sum);
  *scale = range.scale;
}

/// By its own range.
HASTEN_INLINE void quantize_row(const float* x, int64_t k, int16_t* out, int32_t* sum_of,
                                float* scale) {
  float low, high;
  min_max(x, k, &low, &high);
  quantize_row_by(dynamic_range(low, high), x, k, out, sum_of, scale);
}

}  // namespace

}  // namespace HASTEN_NS
}  // namespace hasten
