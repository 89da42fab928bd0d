// MatMulInteger and QLinearMatMul, and the rows that they and quantized recurrent layers multiply.
#include "engine/kernels/integer_tile.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr int64_t kColumns = kItemPanels * 16;

template <class X>
void center(const CenterRowsArgs* a, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const X* x = static_cast<const X*>(a->x) + row * a->k;
    int16_t* out = a->out + row * a->pairs * 2;
    const int32_t zero = a->zero[row * a->zero_step];
    uint32_t sum = 0;
    for (int64_t i = 0; i < a->k; ++i) {
      const int32_t v = x[i] - zero;
      out[i] = static_cast<int16_t>(v);
      sum += static_cast<uint32_t>(v);
    }
    if (a->k % 2) out[a->k] = 0;
    a->sum[row] = static_cast<int32_t>(sum);
  }
}

void put_row(const IntegerGemmArgs* g, const int32_t* sums, int64_t product, int64_t row,
             int64_t first, int64_t columns) {
  const int64_t am = g->a_index ? g->a_index[product] : 0;
  const int64_t bm = g->b_index ? g->b_index[product] : 0;
  const int64_t at = (product * g->m + row) * g->n + first;
  const int64_t set = bm * ((g->n + 15) / 16 * 16) + first;
  alignas(64) int32_t x[kColumns];
  if (g->b_zero) {
    const auto sum = static_cast<uint32_t>(g->a_sum[am * g->m + row]);
    const int32_t* zero = g->b_zero + set;
    for (int64_t i = 0; i < columns; ++i) {
      x[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) -
                                  sum * static_cast<uint32_t>(zero[i]));
    }
    sums = x;
  }
  if (g->y_dtype == 6) {
    memcpy(static_cast<int32_t*>(g->y) + at, sums, static_cast<size_t>(columns) * sizeof(int32_t));
    return;
  }
  const float a_scale = g->a_scale[am * g->m + row];
  if (g->y_dtype == 1) {
    float* y = static_cast<float*>(g->y) + at;
    for (int64_t i = 0; i < columns; ++i) {
      y[i] = static_cast<float>(sums[i]) * (a_scale * g->b_scale[set + i]);
    }
    for (int64_t i = 0; g->bias && i < columns; ++i) y[i] += g->bias[first + i];
    return;
  }
  for (int64_t i = 0; i < columns; i += 16) {
    float factor[16];
    for (int k = 0; k < 16; ++k) factor[k] = a_scale * g->b_scale[set + i + k] / g->y_scale;
    const int64_t n = columns - i < 16 ? columns - i : 16;
    alignas(64) int32_t lanes[16] = {};
    memcpy(lanes, sums + i, static_cast<size_t>(n) * sizeof(int32_t));
    if (g->y_dtype == 3) {
      requantize(lanes, factor, g->y_zero, static_cast<int8_t*>(g->y) + at + i, 1, n);
    } else {
      requantize(lanes, factor, g->y_zero, static_cast<uint8_t*>(g->y) + at + i, 1, n);
    }
  }
}

template <class B>
void multiply_items(const IntegerGemmArgs* g, int64_t begin, int64_t end) {
  const int64_t panels = (g->n + 15) / 16, column_blocks = (panels + kItemPanels - 1) / kItemPanels;
  const int64_t row_blocks = (g->m + g->row_block - 1) / g->row_block, panel = g->pairs * 32;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t row = item % row_blocks * g->row_block;
    const int64_t first = item / row_blocks % column_blocks * kItemPanels;
    const int64_t product = item / row_blocks / column_blocks;
    const int64_t rows = g->m - row < g->row_block ? g->m - row : g->row_block;
    const int64_t width = panels - first < kItemPanels ? panels - first : kItemPanels;
    const int16_t* a = g->a + ((g->a_index ? g->a_index[product] : 0) * g->m + row) * g->pairs * 2;
    const B* b = static_cast<const B*>(g->b) +
                 ((g->b_index ? g->b_index[product] : 0) * panels + first) * panel;
    alignas(64) int32_t sums[kIntegerRows * kColumns];
    IntegerTile t{};
    t.a_row = g->pairs * 2;
    t.b_panel = panel;
    t.pairs = g->pairs;
    t.taps[0] = t.taps[1] = t.taps[2] = 1;
    t.c = sums;
    t.c_row = kColumns;
    for_each_integer_tile(rows, width, [&](int64_t i, int64_t height, int64_t p, int64_t w) {
      t.a = a + i * t.a_row;
      t.b = b + p * panel;
      integer_tile<B>(height, w)(&t);
      const int64_t column = (first + p) * 16;
      const int64_t columns = g->n - column < w * 16 ? g->n - column : w * 16;
      for (int64_t r = 0; r < height; ++r) {
        put_row(g, sums + r * kColumns, product, row + i + r, column, columns);
      }
    });
  }
}

}  // namespace

void center_rows(const CenterRowsArgs* a, int64_t begin, int64_t end) {
  if (a->is_signed) return center<int8_t>(a, begin, end);
  center<uint8_t>(a, begin, end);
}

void gemm_s32(const IntegerGemmArgs* g, int64_t begin, int64_t end) {
  if (g->b_signed) return multiply_items<int8_t>(g, begin, end);
  multiply_items<uint8_t>(g, begin, end);
}

}  // namespace HASTEN_NS
}  // namespace hasten
