// The part of an LSTM that depends on its state: h R^T and the gates, 16 units at a time.
#include "engine/kernels/activation.h"
#include "engine/kernels/gemm_tile.h"
#include "engine/kernels/kernels.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr int64_t kGates = 4;  // i o f c
constexpr int64_t kRowChunk = 24;

/// The activation of a clipped sum. Not inline: fifteen kinds at each of five places.
__attribute__((noinline)) void gate(F16* z, const Activation* a, float clip) {
  F16 x = *z;
  if (clip < __builtin_inff()) x = min(max(x, set1(-clip)), set1(clip));
  *z = activate(x, a->kind, a->a, a->b);
}

/// Rows [row, row + rows) of one block; `products`: their h R^T, [rows][64].
void gates(const LstmArgs* g, const LstmArgs::Direction& d, int64_t block, int64_t row,
           int64_t rows, const float* products) {
  const int64_t unit = block * 16;
  const int64_t n = g->hidden - unit < 16 ? g->hidden - unit : 16;
  const Activation &f = d.activation[0], &cell = d.activation[1], &hidden = d.activation[2];
  for (int64_t b = row; b < row + rows; ++b, products += kGates * 16) {
    const int64_t state = b * g->hidden + unit;
    int64_t length = g->lengths ? g->lengths[b] : g->steps;
    if (length > g->steps) length = g->steps;
    if (g->step >= length) {
      store_n(load_n(d.h_in + state, n), d.h_out + state, n);
      continue;
    }
    const int64_t t = d.reverse ? length - 1 - g->step : g->step;
    const float* xw = d.xw + t * g->xw_t + b * g->xw_b + block * kGates * 16;
    F16 z[kGates];
    for (int i = 0; i < kGates; ++i) z[i] = add(load(xw + i * 16), load(products + i * 16));
    const F16 old = load_n(d.c + state, n);
    const float* p = d.peepholes ? d.peepholes + unit : nullptr;
    if (p) {
      z[0] = fma(load_n(p, n), old, z[0]);
      z[2] = fma(load_n(p + 2 * g->hidden, n), old, z[2]);
    }
    gate(&z[0], &f, g->clip);
    if (g->coupled) {
      z[2] = sub(set1(1), z[0]);
    } else {
      gate(&z[2], &f, g->clip);
    }
    gate(&z[3], &cell, g->clip);
    const F16 c = fma(z[2], old, mul(z[0], z[3]));
    if (p) z[1] = fma(load_n(p + g->hidden, n), c, z[1]);
    gate(&z[1], &f, g->clip);
    F16 h = c;
    gate(&h, &hidden, __builtin_inff());
    h = mul(z[1], h);
    store_n(c, d.c + state, n);
    store_n(h, d.h_out + state, n);
    if (d.y) store_n(h, d.y + t * g->y_t + b * g->y_b + unit, n);
  }
}

}  // namespace

void lstm_step_f32(const LstmArgs* g, int64_t begin, int64_t end) {
  for (int64_t item = begin; item < end; ++item) {
    const LstmArgs::Direction& d = g->direction[item / g->blocks];
    const int64_t block = item % g->blocks;
    for (int64_t row = 0; row < g->batch; row += kRowChunk) {
      const int64_t rows = g->batch - row < kRowChunk ? g->batch - row : kRowChunk;
      alignas(64) float products[kRowChunk * kGates * 16];
      Tile t;
      t.k = g->hidden;
      t.a_row = g->hidden;
      t.a_k = 1;
      t.b_k = 16;
      t.b_panel = g->hidden * 16;
      t.bias = nullptr;
      t.c_row = kGates * 16;
      for_each_tile(rows, kGates, [&](int64_t first, int64_t height, int64_t p, int64_t width) {
        t.a = d.h_in + (row + first) * g->hidden;
        t.b = d.r + (block * kGates + p) * t.b_panel;
        t.c = products + first * t.c_row + p * 16;
        multiply(t, height, width);
      });
      gates(g, d, block, row, rows, products);
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
