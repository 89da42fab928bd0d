// Register tiles of products of small integers: rows of 16-bit numbers by panels of 16 columns, in
// exact 32-bit sums that wrap. Pairs of numbers along k are multiplied and added at once; with no
// number beyond -255 and 255 that never overflows, and no step saturates.
#pragma once

#include "engine/kernels/integer_args.h"
#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

#if HASTEN_TIER == 0
constexpr int64_t kIntegerRows = 2;
constexpr int64_t kIntegerPanels[] = {0, 1, 1};  // panels of a tile of that height
#elif HASTEN_TIER == 1
constexpr int64_t kIntegerRows = 6;
constexpr int64_t kIntegerPanels[] = {0, 4, 2, 2, 1, 1, 1};
#else
constexpr int64_t kIntegerRows = 6;
constexpr int64_t kIntegerPanels[] = {0, 4, 4, 4, 4, 4, 4};
#endif

/// c[row][column] = sum over taps and k of a b. Steps are in elements; the three tap loops are
/// those of a window, a plain product has one tap.
struct IntegerTile {
  const int16_t* a;  // [pairs * 2] at each row and tap
  int64_t a_row;
  const void* b;  // [pairs][16][2] at each panel and tap
  int64_t b_panel;
  int64_t pairs;
  int64_t taps[3], a_tap[3], b_tap[3];
  int32_t* c;
  int64_t c_row;  // panels are 16 apart
};

#if HASTEN_TIER > 0
using DPairs = hn::Repartition<int16_t, DI>;
HASTEN_INLINE hn::Vec<DPairs> load_pairs(const int16_t* p) { return hn::LoadU(DPairs(), p); }
/// sum + x0 y0 + x1 y1 for the two numbers of each lane.
HASTEN_INLINE hn::Vec<DI> add_pairs(hn::Vec<DI> sum, hn::Vec<DPairs> x, hn::Vec<DPairs> y) {
  auto unused = hn::Zero(DI());  // x86 adds neighbours, and all of them to the first sum
  return hn::ReorderWidenMulAccumulate(DI(), x, y, sum, unused);
}
template <class B>
HASTEN_INLINE hn::Vec<DPairs> load_pairs(const B* p) {
  return hn::PromoteTo(DPairs(), hn::LoadU(hn::Rebind<B, DPairs>(), p));
}
#endif

template <class B, int R, int P>
__attribute__((noinline)) void multiply_integers(const IntegerTile* t) {
#if HASTEN_TIER == 0
  uint32_t acc[R][P][16] = {};
#else
  hn::Vec<DI> acc[R][P][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) HASTEN_EACH acc[r][p][i_] = hn::Zero(DI());
  }
#endif
  const int64_t a_row = t->a_row, b_panel = t->b_panel;
  for (int64_t d = 0; d < t->taps[0]; ++d) {
    for (int64_t h = 0; h < t->taps[1]; ++h) {
      for (int64_t w = 0; w < t->taps[2]; ++w) {
        const int16_t* a = t->a + d * t->a_tap[0] + h * t->a_tap[1] + w * t->a_tap[2];
        const B* b =
            static_cast<const B*>(t->b) + d * t->b_tap[0] + h * t->b_tap[1] + w * t->b_tap[2];
#pragma GCC unroll 1
        for (int64_t k = t->pairs; k > 0; --k, a += 2, b += 32) {
#if HASTEN_TIER == 0
          for (int r = 0; r < R; ++r) {
            const int32_t x = a[r * a_row], y = a[r * a_row + 1];
            for (int p = 0; p < P; ++p) {
              const B* c = b + p * b_panel;
              for (int i = 0; i < 16; ++i) {
                acc[r][p][i] += static_cast<uint32_t>(x * c[2 * i] + y * c[2 * i + 1]);
              }
            }
          }
#else
          hn::Vec<DPairs> y[R];
          if constexpr (P > 1) {
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
              int32_t pair;
              memcpy(&pair, a + r * a_row, sizeof pair);
              y[r] = hn::BitCast(DPairs(), hn::Set(DI(), pair));
            }
#pragma GCC unroll 4
            for (int p = 0; p < P; ++p) {
              HASTEN_EACH {
                const auto x = load_pairs(b + p * b_panel + i_ * 2 * kWidth);
#pragma GCC unroll 8
                for (int r = 0; r < R; ++r) {
                  acc[r][p][i_] = add_pairs(acc[r][p][i_], y[r], x);
                }
              }
            }
          } else {
            hn::Vec<DPairs> x[kVectors];
            HASTEN_EACH x[i_] = load_pairs(b + i_ * 2 * kWidth);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
              int32_t pair;
              memcpy(&pair, a + r * a_row, sizeof pair);
              y[r] = hn::BitCast(DPairs(), hn::Set(DI(), pair));
              HASTEN_EACH acc[r][0][i_] = add_pairs(acc[r][0][i_], y[r], x[i_]);
            }
          }
#endif
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      int32_t* c = t->c + r * t->c_row + p * 16;
#if HASTEN_TIER == 0
      for (int i = 0; i < 16; ++i) c[i] = static_cast<int32_t>(acc[r][p][i]);
#else
      HASTEN_EACH hn::StoreU(acc[r][p][i_], DI(), c + i_ * kWidth);
#endif
    }
  }
}

using IntegerTileFn = void (*)(const IntegerTile*);
/// The tile of `height` rows (1 to kIntegerRows) and `width` panels (1 to kIntegerPanels[height]).
template <class B>
HASTEN_INLINE IntegerTileFn integer_tile(int64_t height, int64_t width) {
#define HASTEN_ROW(R)                                                                   \
  {                                                                                     \
    multiply_integers<B, R, 1>, multiply_integers<B, R, 2>, multiply_integers<B, R, 3>, \
        multiply_integers<B, R, 4>                                                      \
  }
#if HASTEN_TIER == 0
  static constexpr IntegerTileFn kTiles[kIntegerRows][4] = {{multiply_integers<B, 1, 1>},
                                                            {multiply_integers<B, 2, 1>}};
#elif HASTEN_TIER == 1
  static constexpr IntegerTileFn kTiles[kIntegerRows][4] = {
      HASTEN_ROW(1),
      {multiply_integers<B, 2, 1>, multiply_integers<B, 2, 2>},
      {multiply_integers<B, 3, 1>, multiply_integers<B, 3, 2>},
      {multiply_integers<B, 4, 1>},
      {multiply_integers<B, 5, 1>},
      {multiply_integers<B, 6, 1>}};
#else
  static constexpr IntegerTileFn kTiles[kIntegerRows][4] = {
      HASTEN_ROW(1), HASTEN_ROW(2), HASTEN_ROW(3), HASTEN_ROW(4), HASTEN_ROW(5), HASTEN_ROW(6)};
#endif
#undef HASTEN_ROW
  return kTiles[height - 1][width - 1];
}

/// f(first row, height, first panel, width) for tiles that cover rows x panels.
template <class F>
HASTEN_INLINE void for_each_integer_tile(int64_t rows, int64_t panels, const F& f) {
  for (int64_t row = 0; row < rows;) {
    // Heights of what is left differ by at most one.
    const int64_t tiles = (rows - row + kIntegerRows - 1) / kIntegerRows;
    const int64_t height = (rows - row + tiles - 1) / tiles;
    const int64_t step = kIntegerPanels[height];
    for (int64_t p = 0; p < panels; p += step) {
      f(row, height, p, panels - p < step ? panels - p : step);
    }
    row += height;
  }
}

/// y = saturate(round_to_even(float(sum) * factor) + zero), NaN: zero; n <= 16.
template <class Y>
HASTEN_INLINE void requantize(const int32_t* sums, const float* factor, int32_t zero, Y* y,
                              int64_t step, int64_t n) {
  constexpr int32_t kLeast = Y(-1) < 0 ? -128 : 0, kMost = kLeast + 255;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to nearest even
  const float low = static_cast<float>(kLeast - zero), high = static_cast<float>(kMost - zero);
  int32_t out[16];
  for (int i = 0; i < 16; ++i) {
    float q = static_cast<float>(sums[i]) * factor[i];
    q = q < low ? low : q;
    q = q > high ? high : q;
    q = q == q ? q : 0.0f;
    out[i] = static_cast<int32_t>((q + kRound) - kRound) + zero;
  }
  for (int64_t i = 0; i < n; ++i) y[i * step] = static_cast<Y>(out[i]);
}

}  // namespace

}  // namespace HASTEN_NS
}  // namespace hasten
