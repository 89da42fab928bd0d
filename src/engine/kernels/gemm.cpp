// Matrix products. A is read where it lies, B in panels of 16 columns; a tile of C stays in
// registers for the whole of K, so that no order of blocks or size of batch shows in its bits.
#include "engine/kernels/activation.h"
#include "engine/kernels/gemm_args.h"
#include "engine/kernels/gemm_tile.h"
#include "engine/kernels/panels.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

/// Curves are applied to this many finished rows at a time: they are in the cache then.
constexpr int64_t kCurveRows = 96;

bool is_curve(const Activation& f) { return f.kind > kActivationClip; }

/// What follows A B, but for curves, on `rows` x `cols` elements from (row, col) of C on; x lies at
/// `from`.
__attribute__((noinline)) void finish(const GemmArgs* g, const float* from, int64_t from_row,
                                      bool biased, int64_t c_offset, int64_t row, int64_t rows,
                                      int64_t col, int64_t cols) {
  const F16 alpha = set1(g->alpha), beta = set1(g->beta);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t at = c_offset + (row + i) * g->c_row + col;
    for (int64_t j = 0; j < cols; j += 16) {
      const int64_t n = cols - j < 16 ? cols - j : 16;
      F16 x = load_n(from + i * from_row + j, n);
      if (!biased) {
        if (g->alpha != 1) x = mul(alpha, x);
        if (g->d) {
          const float* d = g->d + (row + i) * g->d_row + (col + j) * g->d_col;
          const F16 y = g->d_col ? load_n(d, n) : set1(*d);
          x = g->beta == 1 ? add(x, y) : fma(beta, y, x);
        }
      }
      if (g->r) x = add(x, load_n(g->r + at + j, n));
      if (g->activation.kind == kActivationRelu) {
        x = relu(x);
      } else if (g->activation.kind == kActivationClip) {
        x = clip(x, g->activation.a, g->activation.b);
      }
      store_n(x, g->c + at + j, n);
    }
  }
}

/// Rows [row, row + rows) of the columns of `panels` panels from `col` on, but for curves.
void straight_columns(const GemmArgs* g, int64_t product, const float* b, int64_t b_k,
                      int64_t b_panel, int64_t row, int64_t rows, int64_t col, int64_t panels) {
  const int64_t a_offset = g->a_offset ? g->a_offset[product] : 0;
  const int64_t c_offset = g->c_offset ? g->c_offset[product] : 0;
  const bool row_bias = g->d && g->d_row == 0 && g->d_col == 1 && g->alpha == 1 && g->beta == 1;
  const bool clips = g->activation.kind != kActivationNone && !is_curve(g->activation);
  const bool more = g->r || clips || (!row_bias && (g->d || g->alpha != 1));
  // The tiles of a few panels share in fetching those behind them.
  const int64_t tiles = (rows + kRows - 1) / kRows;
  for_each_tile(rows, panels, [&](int64_t first, int64_t height, int64_t p, int64_t width) {
    const int64_t n = col + p * 16, at = row + first;
    const int64_t cols = g->n - n < width * 16 ? g->n - n : width * 16;
    const bool whole = cols == width * 16;
    const bool direct = whole && !g->r;  // R may lie where C does
    alignas(64) float buffer[kTileFloats];
    Tile t;
    t.k = g->k;
    t.a = g->a + a_offset + at * g->a_row;
    t.a_row = g->a_row;
    t.a_k = g->a_k;
    t.b = b + p * b_panel;
    t.b_k = b_k;
    t.b_panel = b_panel;
    t.bias = row_bias && whole ? g->d + n : nullptr;
    if (b_k == kPanel) {
      t.next_step = (width * kPanel + tiles - 1) / tiles;
      t.next = t.b + width * b_panel + first / kRows * t.next_step * g->k;
    }
    t.c = direct ? g->c + c_offset + at * g->c_row + n : buffer;
    t.c_row = direct ? g->c_row : width * 16;
    multiply(t, height, width);
    if (more || !direct) finish(g, t.c, t.c_row, t.bias != nullptr, c_offset, at, height, n, cols);
  });
}

/// Rows [row, row + rows) of the columns of `panels` panels from `col` on.
void columns(const GemmArgs* g, int64_t product, const float* b, int64_t b_k, int64_t b_panel,
             int64_t row, int64_t rows, int64_t col, int64_t panels) {
  if (!is_curve(g->activation)) {
    straight_columns(g, product, b, b_k, b_panel, row, rows, col, panels);
    return;
  }
  const int64_t c_offset = g->c_offset ? g->c_offset[product] : 0;
  const int64_t cols = g->n - col < panels * kPanel ? g->n - col : panels * kPanel;
  for (int64_t end = row + rows; row < end; row += kCurveRows) {
    const int64_t height = end - row < kCurveRows ? end - row : kCurveRows;
    straight_columns(g, product, b, b_k, b_panel, row, height, col, panels);
    activate_all(g->c + c_offset + row * g->c_row + col, height, g->c_row, cols, g->activation.kind,
                 g->activation.a, g->activation.b);
  }
}

/// As columns(), of a B that is packed here.
__attribute__((noinline)) void pack_columns(const GemmArgs* g, int64_t product, const float* b,
                                            int64_t row, int64_t rows, int64_t col,
                                            int64_t panels) {
  alignas(64) float buffer[kStackK * kPanel];
  const int64_t fit = kStackK / (g->k > 0 ? g->k : 1);
  for (int64_t p = 0; p < panels; p += fit) {
    const int64_t width = panels - p < fit ? panels - p : fit;
    for (int64_t i = 0; i < width; ++i) {
      const int64_t n = col + (p + i) * kPanel;
      const int64_t cols = g->n - n < kPanel ? g->n - n : kPanel;
      pack_panel(b + n * g->b_n, g->b_k, g->b_n, g->k, cols, buffer + i * g->k * kPanel);
    }
    columns(g, product, buffer, kPanel, g->k * kPanel, row, rows, col + p * kPanel, width);
  }
}

}  // namespace

void gemm_f32(const GemmArgs* g, int64_t begin, int64_t end) {
  const int64_t row_blocks = (g->m + g->row_block - 1) / g->row_block;
  const int64_t panels = (g->n + kPanel - 1) / kPanel;
  const int64_t column_blocks = (g->n + kItemColumns - 1) / kItemColumns;
  while (begin < end) {
    // Row blocks of one column block that follow each other are one.
    const int64_t first = begin % row_blocks;
    const int64_t count = row_blocks - first < end - begin ? row_blocks - first : end - begin;
    const int64_t column = begin / row_blocks % column_blocks;
    const int64_t product = begin / row_blocks / column_blocks;
    const int64_t row = first * g->row_block;
    const int64_t last = (first + count) * g->row_block;
    const int64_t rows = (last < g->m ? last : g->m) - row;
    const int64_t panel = column * (kItemColumns / kPanel);
    const int64_t width = panels - panel < 4 ? panels - panel : 4;
    const float* b = g->b + (g->b_offset ? g->b_offset[product] : 0);
    if (g->b_panel) {
      columns(g, product, b + panel * g->b_panel, g->b_k, g->b_panel, row, rows, panel * kPanel,
              width);
    } else {
      pack_columns(g, product, b, row, rows, panel * kPanel, width);
    }
    begin += count;
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
