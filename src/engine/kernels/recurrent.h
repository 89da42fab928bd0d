// What the steps of LSTM, GRU and RNN share.
#pragma once

#include "engine/kernels/activation.h"
#include "engine/kernels/gemm_tile.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr int64_t kRowChunk = 24;  // sequences at a time

/// NaN stays NaN.
HASTEN_INLINE F16 gate(F16 z, const Activation& a, float limit) {
  if (limit < __builtin_inff()) z = clip(z, -limit, limit);
  return activate(z, a.kind, a.a, a.b);
}

/// Rows [row, row + rows) of v times `panels` panels, the first at `r`, `step` floats from one to
/// the next: to[rows][panels * 16].
HASTEN_INLINE void multiply_state(const RecurrentArgs* g, const float* v, int64_t row, int64_t rows,
                                  const float* r, int64_t panels, int64_t step, float* to) {
  Tile t;
  t.k = g->hidden;
  t.a_row = g->hidden;
  t.a_k = 1;
  t.b_k = 16;
  t.b_panel = step;
  t.bias = nullptr;
  t.c_row = panels * 16;
  for_each_tile(rows, panels, [&](int64_t first, int64_t height, int64_t p, int64_t width) {
    t.a = v + (row + first) * g->hidden;
    t.b = r + p * step;
    t.c = to + first * t.c_row + p * 16;
    multiply(t, height, width);
  });
}

/// Where a sequence is at this step.
struct Moment {
  int64_t t;  // -1: past its end
  HASTEN_INLINE Moment(const RecurrentArgs* g, const RecurrentArgs::Direction& d, int64_t b) {
    int64_t length = g->lengths ? g->lengths[b] : g->steps;
    if (length > g->steps) length = g->steps;
    t = g->step >= length ? -1 : d.reverse ? length - 1 - g->step : g->step;
  }
};

/// f(direction, first block, blocks) over the items, at most `most` blocks of a direction at a
/// time.
template <class F>
HASTEN_INLINE void for_each_blocks(const RecurrentArgs* g, int64_t begin, int64_t end, int64_t most,
                                   const F& f) {
  while (begin < end) {
    const int64_t block = begin % g->blocks;
    int64_t count = g->blocks - block < end - begin ? g->blocks - block : end - begin;
    if (count > most) count = most;
    f(g->direction[begin / g->blocks], block, count);
    begin += count;
  }
}

/// f(first row, rows) over the batch.
template <class F>
HASTEN_INLINE void for_each_rows(const RecurrentArgs* g, const F& f) {
  for (int64_t row = 0; row < g->batch; row += kRowChunk) {
    f(row, g->batch - row < kRowChunk ? g->batch - row : kRowChunk);
  }
}

HASTEN_INLINE int64_t units_from(const RecurrentArgs* g, int64_t unit) {
  return g->hidden - unit < 16 ? g->hidden - unit : 16;
}

/// h' of n units of sequence b at time t.
HASTEN_INLINE void put_state(const RecurrentArgs* g, const RecurrentArgs::Direction& d, F16 h,
                             int64_t t, int64_t b, int64_t unit, int64_t n) {
  store_n(h, d.h_out + b * g->hidden + unit, n);
  if (d.y) store_n(h, d.y + t * g->y_t + b * g->y_b + unit, n);
}

/// The state of a sequence that is past its end stays.
HASTEN_INLINE void keep_state(const RecurrentArgs* g, const RecurrentArgs::Direction& d, int64_t b,
                              int64_t unit, int64_t n) {
  store_n(load_n(d.h_in + b * g->hidden + unit, n), d.h_out + b * g->hidden + unit, n);
}

}  // namespace

}  // namespace HASTEN_NS
}  // namespace hasten
