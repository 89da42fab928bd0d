// The part of a simple RNN that depends on its state: h' = f(xw + h R^T).
#include "engine/kernels/recurrent.h"

namespace hasten {
namespace HASTEN_NS {

void rnn_step_f32(const RecurrentArgs* g, int64_t begin, int64_t end) {
  const int64_t panel = g->hidden * 16;
  for_each_blocks(g, begin, end, 4, [&](const auto& d, int64_t block, int64_t blocks) {
    for_each_rows(g, [&](int64_t row, int64_t rows) {
      alignas(64) float products[kRowChunk * 4 * 16];
      multiply_state(g, d.h_in, row, rows, d.r + block * panel, blocks, panel, products);
      const float* p = products;
      for (int64_t b = row; b < row + rows; ++b) {
        const Moment at(g, d, b);
        for (int64_t i = block; i < block + blocks; ++i, p += 16) {
          const int64_t unit = i * 16, n = units_from(g, unit);
          if (at.t < 0) {
            keep_state(g, d, b, unit, n);
            continue;
          }
          const float* xw = d.xw + at.t * g->xw_t + b * g->xw_b + i * 16;
          put_state(g, d, gate(add(load(xw), load(p)), d.activation[0], g->clip), at.t, b, unit, n);
        }
      }
    });
  });
}

}  // namespace HASTEN_NS
}  // namespace hasten
