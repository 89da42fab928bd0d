// The part of a GRU that depends on its state, 16 units at a time. Gates z r h:
//   z = f(z_z);  r = f(z_r);  h~ = g(z_h);  h' = fma(z, h, (1 - z) h~)
// z_h is xw + (r h) R^T, which takes two phases, or (linear before reset) fma(r, h R^T + b, xw).
#include "engine/kernels/recurrent.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr int64_t kGates = 3;

HASTEN_INLINE F16 mix(F16 z, F16 old, F16 fresh) {
  return fma(z, old, mul(sub(set1(1), z), fresh));
}

}  // namespace

/// Linear before reset, whole.
void gru_step_f32(const RecurrentArgs* g, int64_t begin, int64_t end) {
  const int64_t panel = g->hidden * 16;
  for_each_blocks(g, begin, end, 1, [&](const auto& d, int64_t block, int64_t) {
    const int64_t unit = block * 16, n = units_from(g, unit);
    const F16 bias = d.hidden_bias ? load_n(d.hidden_bias + unit, n) : set1(0);
    for_each_rows(g, [&](int64_t row, int64_t rows) {
      alignas(64) float products[kRowChunk * kGates * 16];
      multiply_state(g, d.h_in, row, rows, d.r + block * kGates * panel, kGates, panel, products);
      const float* p = products;
      for (int64_t b = row; b < row + rows; ++b, p += kGates * 16) {
        const Moment at(g, d, b);
        if (at.t < 0) {
          keep_state(g, d, b, unit, n);
          continue;
        }
        const float* xw = d.xw + at.t * g->xw_t + b * g->xw_b + block * kGates * 16;
        const F16 z = gate(add(load(xw), load(p)), d.activation[0], g->clip);
        const F16 r = gate(add(load(xw + 16), load(p + 16)), d.activation[0], g->clip);
        const F16 sum = fma(r, add(load(p + 32), bias), load(xw + 32));
        const F16 old = load_n(d.h_in + b * g->hidden + unit, n);
        put_state(g, d, mix(z, old, gate(sum, d.activation[1], g->clip)), at.t, b, unit, n);
      }
    });
  });
}

/// First phase: z and r h.
void gru_gates_f32(const RecurrentArgs* g, int64_t begin, int64_t end) {
  const int64_t panel = g->hidden * 16;
  for_each_blocks(g, begin, end, 1, [&](const auto& d, int64_t block, int64_t) {
    const int64_t unit = block * 16, n = units_from(g, unit);
    for_each_rows(g, [&](int64_t row, int64_t rows) {
      alignas(64) float products[kRowChunk * 2 * 16];
      multiply_state(g, d.h_in, row, rows, d.r + block * kGates * panel, 2, panel, products);
      const float* p = products;
      for (int64_t b = row; b < row + rows; ++b, p += 2 * 16) {
        const Moment at(g, d, b);
        const int64_t state = b * g->hidden + unit;
        const F16 old = load_n(d.h_in + state, n);
        if (at.t < 0) {
          store_n(old, d.rh + state, n);
          continue;
        }
        const float* xw = d.xw + at.t * g->xw_t + b * g->xw_b + block * kGates * 16;
        const F16 r = gate(add(load(xw + 16), load(p + 16)), d.activation[0], g->clip);
        store_n(gate(add(load(xw), load(p)), d.activation[0], g->clip), d.z + state, n);
        store_n(mul(r, old), d.rh + state, n);
      }
    });
  });
}

/// Second phase: the hidden gate and h'.
void gru_hidden_f32(const RecurrentArgs* g, int64_t begin, int64_t end) {
  const int64_t panel = g->hidden * 16;
  for_each_blocks(g, begin, end, 4, [&](const auto& d, int64_t block, int64_t blocks) {
    for_each_rows(g, [&](int64_t row, int64_t rows) {
      alignas(64) float products[kRowChunk * 4 * 16];
      multiply_state(g, d.rh, row, rows, d.r + (block * kGates + 2) * panel, blocks, kGates * panel,
                     products);
      const float* p = products;
      for (int64_t b = row; b < row + rows; ++b) {
        const Moment at(g, d, b);
        for (int64_t i = block; i < block + blocks; ++i, p += 16) {
          const int64_t unit = i * 16, n = units_from(g, unit), state = b * g->hidden + unit;
          if (at.t < 0) {
            keep_state(g, d, b, unit, n);
            continue;
          }
          const float* xw = d.xw + at.t * g->xw_t + b * g->xw_b + (i * kGates + 2) * 16;
          const F16 fresh = gate(add(load(xw), load(p)), d.activation[1], g->clip);
          const F16 h = mix(load_n(d.z + state, n), load_n(d.h_in + state, n), fresh);
          put_state(g, d, h, at.t, b, unit, n);
        }
      }
    });
  });
}

}  // namespace HASTEN_NS
}  // namespace hasten
