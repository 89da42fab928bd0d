// A step of an LSTM whose weights have 8 bits: products with h are exact sums of h quantized row by
// row, times both scales.
#include "engine/kernels/integer_tile.h"
#include "engine/kernels/lstm_gates.h"
#include "engine/kernels/quantize_row.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr int64_t kColumns = kGates * 16;

/// Rows [row, row + rows) of h times one block of R: to[rows][kColumns].
template <class B>
HASTEN_INLINE void multiply_quantized(const RecurrentArgs::Quantized& q, int64_t block, int64_t row,
                                      int64_t rows, float* to) {
  alignas(64) int32_t sums[kRowChunk * kColumns];
  const int64_t panel = q.pairs * 32;
  IntegerTile t{};
  t.a_row = q.pairs * 2;
  t.b_panel = panel;
  t.pairs = q.pairs;
  t.taps[0] = t.taps[1] = t.taps[2] = 1;
  t.c_row = kColumns;
  for_each_integer_tile(rows, kGates, [&](int64_t i, int64_t height, int64_t p, int64_t width) {
    t.a = q.h + (row + i) * t.a_row;
    t.b = static_cast<const B*>(q.r) + (block * kGates + p) * panel;
    t.c = sums + i * kColumns + p * 16;
    integer_tile<B>(height, width)(&t);
  });
  const float* scale = q.scale + block * kColumns;
  for (int64_t i = 0; i < rows; ++i) {
    int32_t* x = sums + i * kColumns;
    if (q.zero) {
      const auto sum = static_cast<uint32_t>(q.h_sum[row + i]);
      const int32_t* zero = q.zero + block * kColumns;
      for (int64_t c = 0; c < kColumns; ++c) {
        x[c] = static_cast<int32_t>(static_cast<uint32_t>(x[c]) -
                                    sum * static_cast<uint32_t>(zero[c]));
      }
    }
    const float h_scale = q.h_scale[row + i];
    for (int64_t c = 0; c < kColumns; ++c) {
      to[i * kColumns + c] = static_cast<float>(x[c]) * (h_scale * scale[c]);
    }
  }
}

}  // namespace

void quantize_state_f32(const RecurrentArgs* g, int64_t begin, int64_t end) {
  for (int64_t item = begin; item < end; ++item) {
    const RecurrentArgs::Direction& d = g->direction[item / g->blocks];
    const RecurrentArgs::Quantized& q = g->quantized[item / g->blocks];
    for (int64_t b = item % g->blocks; b < g->batch; b += g->blocks) {
      quantize_row(d.h_in + b * g->hidden, g->hidden, q.h + b * q.pairs * 2, q.h_sum + b,
                   q.h_scale + b);
    }
  }
}

void lstm_step_s8(const RecurrentArgs* g, int64_t begin, int64_t end) {
  for (int64_t item = begin; item < end; ++item) {
    const int64_t block = item % g->blocks;
    const RecurrentArgs::Quantized& q = g->quantized[item / g->blocks];
    for_each_rows(g, [&](int64_t row, int64_t rows) {
      alignas(64) float products[kRowChunk * kColumns];
      if (q.r_signed) {
        multiply_quantized<int8_t>(q, block, row, rows, products);
      } else {
        multiply_quantized<uint8_t>(q, block, row, rows, products);
      }
      lstm_gates(g, g->direction[item / g->blocks], block, row, rows, products);
    });
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
