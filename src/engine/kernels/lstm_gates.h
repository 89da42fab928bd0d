// The part of an LSTM that depends on its state, 16 units at a time. Gates i o f c:
//   i = f(z_i);  f = f(z_f), or 1 - i;  c' = fma(f, c, i g(z_c));  o = f(z_o);  h' = o h(c')
// where peepholes first add p c to z_i and z_f and p c' to z_o, by fma.
#pragma once

#include "engine/kernels/recurrent.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr int64_t kGates = 4;

/// One block of rows [row, row + rows); `products`: their h R^T, [rows][64].
HASTEN_INLINE void lstm_gates(const RecurrentArgs* g, const RecurrentArgs::Direction& d,
                              int64_t block, int64_t row, int64_t rows, const float* products) {
  const int64_t unit = block * 16, n = units_from(g, unit);
  const Activation &f = d.activation[0], &cell = d.activation[1], &hidden = d.activation[2];
  for (int64_t b = row; b < row + rows; ++b, products += kGates * 16) {
    const Moment at(g, d, b);
    if (at.t < 0) {
      keep_state(g, d, b, unit, n);
      continue;
    }
    const float* xw = d.xw + at.t * g->xw_t + b * g->xw_b + block * kGates * 16;
    F16 z[kGates];
    for (int i = 0; i < kGates; ++i) z[i] = add(load(xw + i * 16), load(products + i * 16));
    float* state = d.c + b * g->hidden + unit;
    const F16 old = load_n(state, n);
    const float* p = d.peepholes ? d.peepholes + unit : nullptr;
    if (p) {
      z[0] = fma(load_n(p, n), old, z[0]);
      z[2] = fma(load_n(p + 2 * g->hidden, n), old, z[2]);
    }
    const F16 in = gate(z[0], f, g->clip);
    const F16 keep = g->coupled ? sub(set1(1), in) : gate(z[2], f, g->clip);
    const F16 c = fma(keep, old, mul(in, gate(z[3], cell, g->clip)));
    if (p) z[1] = fma(load_n(p + g->hidden, n), c, z[1]);
    const F16 h = mul(gate(z[1], f, g->clip), activate(c, hidden.kind, hidden.a, hidden.b));
    store_n(c, state, n);
    put_state(g, d, h, at.t, b, unit, n);
  }
}

}  // namespace

}  // namespace HASTEN_NS
}  // namespace hasten
