// Bringing a right-hand matrix into panels of 16 columns.
#pragma once

#include "engine/kernels/vec.h"
#if HASTEN_TIER > 0
#include <immintrin.h>
#endif

namespace hasten {
namespace HASTEN_NS {

/// Rows `from[0..cols)[0..8)` of a matrix whose rows are `stride` apart become columns: to[8][16].
HASTEN_INLINE void transpose_8(const float* from, int64_t stride, int64_t cols, float* to) {
#if HASTEN_TIER > 0
  if (cols == 16) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const float* p = from + half * 8 * stride;
      __m256 r[8], s[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(p + i * stride);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        s[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        s[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
      }
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const __m256* t = s + 4 * i;
        r[4 * i] = _mm256_shuffle_ps(t[0], t[2], 0x44);
        r[4 * i + 1] = _mm256_shuffle_ps(t[0], t[2], 0xee);
        r[4 * i + 2] = _mm256_shuffle_ps(t[1], t[3], 0x44);
        r[4 * i + 3] = _mm256_shuffle_ps(t[1], t[3], 0xee);
      }
      float* q = to + half * 8;
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        _mm256_storeu_ps(q + i * 16, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(q + (i + 4) * 16, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
      }
    }
    return;
  }
#endif
  for (int64_t k = 0; k < 8; ++k) {
    for (int64_t n = 0; n < 16; ++n) to[k * 16 + n] = n < cols ? from[n * stride + k] : 0.0f;
  }
}

/// One panel: element (k, n) of the first `cols` columns of `b`, zeros after them.
HASTEN_INLINE void pack_panel(const float* b, int64_t b_k, int64_t b_n, int64_t k, int64_t cols,
                              float* panel) {
  int64_t i = 0;
  if (b_n == 1) {
    for (; i < k; ++i) store(load_n(b + i * b_k, cols), panel + i * 16);
    return;
  }
  if (b_k == 1) {
    for (; i + 8 <= k; i += 8) transpose_8(b + i, b_n, cols, panel + i * 16);
  }
  for (; i < k; ++i) {
    for (int64_t n = 0; n < 16; ++n) panel[i * 16 + n] = n < cols ? b[i * b_k + n * b_n] : 0.0f;
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
