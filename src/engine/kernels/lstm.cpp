// A step of an LSTM; lstm_gates.h has its arithmetic.
#include "engine/kernels/lstm_gates.h"

namespace hasten {
namespace HASTEN_NS {

void lstm_step_f32(const RecurrentArgs* g, int64_t begin, int64_t end) {
  const int64_t panel = g->hidden * 16;
  for_each_blocks(g, begin, end, 1, [&](const auto& d, int64_t block, int64_t) {
    for_each_rows(g, [&](int64_t row, int64_t rows) {
      alignas(64) float products[kRowChunk * kGates * 16];
      multiply_state(g, d.h_in, row, rows, d.r + block * kGates * panel, kGates, panel, products);
      lstm_gates(g, d, block, row, rows, products);
    });
  });
}

}  // namespace HASTEN_NS
}  // namespace hasten
