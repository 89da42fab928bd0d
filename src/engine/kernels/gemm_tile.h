// The heart of matrix products: a tile of C stays in registers for the whole of K.
#pragma once

#include "engine/kernels/gemm_args.h"
#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

// Accumulators + panels + one broadcast fill the registers: 16 of 8 floats, 32 of 16 floats.
#if HASTEN_TIER == 2
constexpr int kRows = 6;
constexpr int kPanelsOf[kRows + 1] = {0, 4, 4, 4, 4, 4, 4};
#elif HASTEN_TIER == 0
constexpr int kRows = 2;
constexpr int kPanelsOf[kRows + 1] = {0, 1, 1};
#else
constexpr int kRows = 6;
constexpr int kPanelsOf[kRows + 1] = {0, 4, 2, 2, 1, 1, 1};
#endif

/// Do a tile and one row of all its panels fit into the registers?
template <int R, int P>
constexpr bool kHoldsPanels = R == 1 || R* P + P < (HASTEN_TIER == 2 ? 32 : 8);

/// A tile of C = A B (+ bias) and what it is made of; strides in elements.
struct Tile {
  int64_t k;
  const float* a;
  int64_t a_row, a_k;
  const float* b;
  int64_t b_k, b_panel;
  const float* bias;  // of its columns; may be null
  float* c;
  int64_t c_row;
  // What the next tiles read of B, fetched into L2 meanwhile: a step of so many floats for each k.
  const float* next = nullptr;
  int64_t next_step = 0;
};

template <int R, int P>
__attribute__((noinline)) void multiply_tile(const Tile* t) {
  F16 acc[R][P];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) acc[r][p] = set1(0);
  }
  const float *a = t->a, *b = t->b;
  const int64_t a_row = t->a_row, a_k = t->a_k, b_k = t->b_k, b_panel = t->b_panel;
  const float* next = t->next;
  const int64_t next_step = t->next_step;
#pragma GCC unroll 1
  for (int64_t k = t->k; k > 0; --k) {
    __builtin_prefetch(next, 0, 2);
    next += next_step;
    if constexpr (kHoldsPanels<R, P>) {
      F16 x[P];
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) {
        x[p] = load(b + p * b_panel);
        if (R > 1) pin(x[p]);
      }
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        Part y = splat(a + r * a_row);
        pin(y);
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) acc[r][p] = fma(y, x[p], acc[r][p]);
      }
    } else {
      Part y[R];
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        y[r] = splat(a + r * a_row);
        pin(y[r]);
      }
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) {
#pragma GCC unroll 2
        for (int i = 0; i < kVectors; ++i) {
          Part x = {hn::LoadU(DF(), b + p * b_panel + i * kWidth)};
          pin(x);
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) acc[r][p].v[i] = fma(y[r], x, {acc[r][p].v[i]}).v;
        }
      }
    }
    a += a_k;
    b += b_k;
  }
  if (t->bias) {
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      const F16 bias = load(t->bias + p * 16);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) acc[r][p] = add(acc[r][p], bias);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) store(acc[r][p], t->c + r * t->c_row + p * 16);
  }
}

using MultiplyFn = void (*)(const Tile*);
#if HASTEN_TIER == 2
#define HASTEN_ROW(R) \
  { multiply_tile<R, 1>, multiply_tile<R, 2>, multiply_tile<R, 3>, multiply_tile<R, 4> }
constexpr MultiplyFn kMultiply[kRows][4] = {HASTEN_ROW(1), HASTEN_ROW(2), HASTEN_ROW(3),
                                            HASTEN_ROW(4), HASTEN_ROW(5), HASTEN_ROW(6)};
#undef HASTEN_ROW
#elif HASTEN_TIER == 0
constexpr MultiplyFn kMultiply[kRows][4] = {{multiply_tile<1, 1>}, {multiply_tile<2, 1>}};
#else
constexpr MultiplyFn kMultiply[kRows][4] = {
    {multiply_tile<1, 1>, multiply_tile<1, 2>, multiply_tile<1, 3>, multiply_tile<1, 4>},
    {multiply_tile<2, 1>, multiply_tile<2, 2>},
    {multiply_tile<3, 1>, multiply_tile<3, 2>},
    {multiply_tile<4, 1>},
    {multiply_tile<5, 1>},
    {multiply_tile<6, 1>}};
#endif

/// The tile of `height` rows and `width` panels.
HASTEN_INLINE void multiply(const Tile& t, int64_t height, int64_t width) {
  kMultiply[height - 1][width - 1](&t);
}

constexpr int64_t kTileFloats = kRows * 4 * kPanel;

/// f(first row, height, first panel, width) for tiles that cover rows x panels: heights differ by
/// at most one (first the higher ones), panels outside, rows inside.
template <class F>
HASTEN_INLINE void for_each_tile(int64_t rows, int64_t panels, const F& f) {
  const int64_t tiles = (rows + kRows - 1) / kRows;
  const int64_t low = rows / tiles, higher = rows % tiles;
  for (int part = 0; part < 2; ++part) {
    const int64_t height = part == 0 ? low + 1 : low;
    const int64_t count = part == 0 ? higher : tiles - higher;
    const int64_t first = part == 0 ? 0 : higher * (low + 1);
    if (count == 0) continue;
    const int64_t step = kPanelsOf[height];
    for (int64_t p = 0; p < panels; p += step) {
      const int64_t width = panels - p < step ? panels - p : step;
      for (int64_t i = 0; i < count; ++i) f(first + i * height, height, p, width);
    }
  }
}

}  // namespace

}  // namespace HASTEN_NS
}  // namespace hasten
