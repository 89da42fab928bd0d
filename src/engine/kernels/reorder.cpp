// Between planes (NCHW) and nchw16c.
#include "engine/kernels/vec.h"
#include "engine/kernels/window_args.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr int kTile = 8;  // pixels and channels of a transposed square

#if HASTEN_TIER >= 1
/// to[j * to_step + i] = from[i * from_step + j] for an 8 x 8 square.
HASTEN_INLINE void transpose8(const float* from, int64_t from_step, float* to, int64_t to_step) {
  __m256 r[8], s[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(from + i * from_step);
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_step, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_step, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}
#else
HASTEN_INLINE void transpose8(const float* from, int64_t from_step, float* to, int64_t to_step) {
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) to[j * to_step + i] = from[i * from_step + j];
  }
}
#endif

}  // namespace

void reorder_to_blocked_f32(const ReorderArgs* a, int64_t begin, int64_t end) {
  const int64_t blocks = (a->channels + kLanes - 1) / kLanes, pixels = a->pixels;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t block = item % blocks, left = a->channels - block * kLanes;
    const int64_t lanes = left < kLanes ? left : kLanes;
    const float* x = a->x + (item / blocks * a->channels + block * kLanes) * pixels;
    float* y = a->y + item * kLanes * pixels;
    int64_t p = 0;
    if (lanes == kLanes) {
      for (; p + kTile <= pixels; p += kTile) {
        transpose8(x + p, pixels, y + p * kLanes, kLanes);
        transpose8(x + p + 8 * pixels, pixels, y + p * kLanes + 8, kLanes);
      }
    }
    for (; p < pixels; ++p) {
      for (int64_t c = 0; c < lanes; ++c) y[p * kLanes + c] = x[c * pixels + p];
      for (int64_t c = lanes; c < kLanes; ++c) y[p * kLanes + c] = 0;
    }
  }
}

void reorder_to_plain_f32(const ReorderArgs* a, int64_t begin, int64_t end) {
  const int64_t blocks = (a->channels + kLanes - 1) / kLanes, pixels = a->pixels;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t block = item % blocks, left = a->channels - block * kLanes;
    const int64_t lanes = left < kLanes ? left : kLanes;
    const float* x = a->x + item * kLanes * pixels;
    float* y = a->y + (item / blocks * a->channels + block * kLanes) * pixels;
    int64_t p = 0;
    if (lanes == kLanes) {
      for (; p + kTile <= pixels; p += kTile) {
        transpose8(x + p * kLanes, kLanes, y + p, pixels);
        transpose8(x + p * kLanes + 8, kLanes, y + p + 8 * pixels, pixels);
      }
    }
    for (; p < pixels; ++p) {
      for (int64_t c = 0; c < lanes; ++c) y[c * pixels + p] = x[p * kLanes + c];
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
