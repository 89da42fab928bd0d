// Winograd convolution F(4x4, 3x3): 16 outputs of a channel from 36 products instead of 144.
// A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural Networks, 2015 (arXiv:1509.09308).
// Tiles of 6x6 inputs become 36 matrices [tile][channel], those are multiplied with the
// transformed weights, and what comes out is transformed to 4x4 outputs.
#include "engine/kernels/activation.h"
#include "engine/kernels/gemm_tile.h"
#include "engine/kernels/window_args.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr int64_t kIn = kWinogradIn, kOut = kWinogradOut, kPoints = kIn * kIn;
constexpr int64_t kChunk = kWinogradChunk;
constexpr int64_t kMRow = (kChunk + 1) * kLanes;  // no power of two: rows fall on different sets

HASTEN_INLINE Part plus(Part a, Part b) { return {hn::Add(a.v, b.v)}; }
HASTEN_INLINE Part minus(Part a, Part b) { return {hn::Sub(a.v, b.v)}; }
HASTEN_INLINE Part constant(float x) { return {hn::Set(DF(), x)}; }
HASTEN_INLINE Part load_part(const float* p) { return {hn::LoadU(DF(), p)}; }

/// B^T d.
HASTEN_INLINE void transform_in(const Part (&d)[kIn], Part (&t)[kIn]) {
  const Part four = constant(4), less_four = constant(-4), less_five = constant(-5);
  const Part a = fma(less_four, d[2], d[4]), b = fma(less_four, d[1], d[3]);
  const Part c = minus(d[4], d[2]), e = minus(d[3], d[1]);
  t[0] = fma(four, d[0], fma(less_five, d[2], d[4]));
  t[1] = plus(a, b);
  t[2] = minus(a, b);
  t[3] = fma(constant(2), e, c);
  t[4] = fma(constant(-2), e, c);
  t[5] = fma(four, d[1], fma(less_five, d[3], d[5]));
}

/// A^T m.
HASTEN_INLINE void transform_out(const Part (&m)[kIn], Part (&y)[kOut]) {
  const Part s = plus(m[1], m[2]), q = minus(m[1], m[2]);
  const Part u = plus(m[3], m[4]), w = minus(m[3], m[4]);
  y[0] = plus(plus(m[0], s), u);
  y[1] = fma(constant(2), w, q);
  y[2] = fma(constant(4), u, s);
  y[3] = plus(fma(constant(8), w, q), m[5]);
}

/// Where a tile lies.
struct Position {
  int64_t image, row, col;  // of tiles
};
HASTEN_INLINE Position position(const WinogradArgs* a, int64_t tile) {
  return {tile / (a->tile_rows * a->tile_cols), tile / a->tile_cols % a->tile_rows,
          tile % a->tile_cols};
}

/// The 6x6 inputs of `count` tiles, all channels, to v[point][tile][channel].
__attribute__((noinline)) void inputs(const WinogradArgs* a, int64_t first, int64_t count, float* v,
                                      int64_t v_row, int64_t v_plane) {
  const int64_t blocks = (a->in_channels + kLanes - 1) / kLanes;
  const int64_t pixels = a->in_rows * a->in_cols;
  for (int64_t i = 0; i < count; ++i) {
    const Position p = position(a, first + i);
    const int64_t top = p.row * kOut - a->pad_row, left = p.col * kOut - a->pad_col;
    // Rows and columns [from, to) of the tile lie inside the image.
    const int64_t row_from = top < 0 ? -top : 0, col_from = left < 0 ? -left : 0;
    const int64_t row_to = a->in_rows - top < kIn ? a->in_rows - top : kIn;
    const int64_t col_to = a->in_cols - left < kIn ? a->in_cols - left : kIn;
    const bool whole = row_from == 0 && col_from == 0 && row_to == kIn && col_to == kIn;
    for (int64_t block = 0; block < blocks; ++block) {
      const float* x =
          a->x + ((p.image * blocks + block) * pixels + top * a->in_cols + left) * kLanes;
      float* to = v + i * v_row + block * kLanes;
      alignas(64) float edge[kPoints * kLanes];
      int64_t x_row = a->in_cols * kLanes;
      if (!whole) {
        for (int64_t r = 0; r < kIn; ++r) {
          for (int64_t c = 0; c < kIn; ++c) {
            const bool inside = r >= row_from && r < row_to && c >= col_from && c < col_to;
            store(inside ? load(x + r * x_row + c * kLanes) : set1(0.0f),
                  edge + (r * kIn + c) * kLanes);
          }
        }
        x = edge;
        x_row = kIn * kLanes;
      }
      for (int part = 0; part < kVectors; ++part, x += kWidth, to += kWidth) {
        Part half[kIn][kIn];  // [column][row]
#pragma GCC unroll 6
        for (int64_t c = 0; c < kIn; ++c) {
          Part d[kIn];
#pragma GCC unroll 6
          for (int64_t r = 0; r < kIn; ++r) d[r] = load_part(x + r * x_row + c * kLanes);
          transform_in(d, half[c]);
        }
#pragma GCC unroll 6
        for (int64_t r = 0; r < kIn; ++r) {
          Part d[kIn], t[kIn];
#pragma GCC unroll 6
          for (int64_t c = 0; c < kIn; ++c) d[c] = half[c][r];
          transform_in(d, t);
#pragma GCC unroll 6
          for (int64_t c = 0; c < kIn; ++c) {
            hn::StoreU(t[c].v, DF(), to + (r * kIn + c) * v_plane);
          }
        }
      }
    }
  }
}

/// m[point] = v[point] u[point], for `width` blocks of output channels from `block` on.
HASTEN_INLINE void products(const WinogradArgs* a, int64_t count, int64_t block, int64_t width,
                            const float* v, int64_t v_row, int64_t v_plane, float* m,
                            int64_t m_plane) {
  const int64_t out_blocks = (a->out_channels + kLanes - 1) / kLanes;
  const int64_t panel = a->in_channels * kPanel;
  for (int64_t point = 0; point < kPoints; ++point) {
    const float* u = a->u + (point * out_blocks + block) * panel;
    for_each_tile(count, width, [&](int64_t row, int64_t height, int64_t p, int64_t panels) {
      Tile t{};
      t.k = a->in_channels;
      t.a = v + point * v_plane + row * v_row;
      t.a_row = v_row;
      t.a_k = 1;
      t.b = u + p * panel;
      t.b_k = kPanel;
      t.b_panel = panel;
      t.c = m + point * m_plane + row * kMRow + p * kPanel;
      t.c_row = kMRow;
      multiply(t, height, panels);
    });
  }
}

/// 4x4 outputs of one tile and block, without what follows the sums.
HASTEN_INLINE void outputs_of(const float* m, int64_t m_plane, float* y) {
  for (int part = 0; part < kVectors; ++part, m += kWidth, y += kWidth) {
    Part half[kIn][kOut];  // [column][row]
#pragma GCC unroll 6
    for (int64_t c = 0; c < kIn; ++c) {
      Part d[kIn];
#pragma GCC unroll 6
      for (int64_t r = 0; r < kIn; ++r) d[r] = load_part(m + (r * kIn + c) * m_plane);
      transform_out(d, half[c]);
    }
#pragma GCC unroll 4
    for (int64_t r = 0; r < kOut; ++r) {
      Part d[kIn], t[kOut];
#pragma GCC unroll 6
      for (int64_t c = 0; c < kIn; ++c) d[c] = half[c][r];
      transform_out(d, t);
#pragma GCC unroll 4
      for (int64_t c = 0; c < kOut; ++c) hn::StoreU(t[c].v, DF(), y + (r * kOut + c) * kLanes);
    }
  }
}

/// m to the outputs of `count` tiles, for `width` blocks of output channels from `block` on.
__attribute__((noinline)) void outputs(const WinogradArgs* a, int64_t first, int64_t count,
                                       int64_t block, int64_t width, const float* m,
                                       int64_t m_plane) {
  const int64_t out_blocks = (a->out_channels + kLanes - 1) / kLanes;
  const int64_t pixels = a->out_rows * a->out_cols;
  for (int64_t i = 0; i < count; ++i) {
    const Position p = position(a, first + i);
    const int64_t top = p.row * kOut, left = p.col * kOut;
    const int64_t rows = a->out_rows - top < kOut ? a->out_rows - top : kOut;
    const int64_t cols = a->out_cols - left < kOut ? a->out_cols - left : kOut;
    for (int64_t o = 0; o < width; ++o) {
      alignas(64) float tile[kOut * kOut * kLanes];
      outputs_of(m + i * kMRow + o * kLanes, m_plane, tile);
      const int64_t at =
          ((p.image * out_blocks + block + o) * pixels + top * a->out_cols + left) * kLanes;
      const F16 bias = a->bias ? load(a->bias + (block + o) * kLanes) : set1(0.0f);
      const int64_t lanes = a->out_channels - (block + o) * kLanes;
      const bool curve = a->activation > kActivationClip;
      for (int64_t r = 0; r < rows; ++r) {
        float* from = tile + r * kOut * kLanes;
        const int64_t row = at + r * a->out_cols * kLanes;
        for (int64_t c = 0; c < cols; ++c) {
          F16 x = load(from + c * kLanes);
          if (a->bias) x = add(x, bias);
          if (a->residual) x = add(x, load(a->residual + row + c * kLanes));
          if (a->activation == kActivationRelu) {
            x = relu(x);
          } else if (a->activation == kActivationClip) {
            x = clip(x, a->a, a->b);
          }
          store(x, (curve ? from : a->y + row) + c * kLanes);
        }
        if (curve) {
          activate_all(from, 1, 0, cols * kLanes, a->activation, a->a, a->b);
          for (int64_t c = 0; c < cols; ++c)
            store(load(from + c * kLanes), a->y + row + c * kLanes);
        }
        // Channels that pad the last block stay zero.
        for (int64_t c = 0; lanes < kLanes && c < cols; ++c) {
          float* pixel = a->y + row + c * kLanes;
          store(load_n(pixel, lanes), pixel);
        }
      }
    }
  }
}

}  // namespace

void conv_winograd_f32(const WinogradArgs* a, int64_t begin, int64_t end) {
  const int64_t tiles = a->images * a->tile_rows * a->tile_cols;
  const int64_t out_blocks = (a->out_channels + kLanes - 1) / kLanes;
  const int64_t v_row = winograd_row(a->in_channels);
  const int64_t v_plane = a->block_tiles * v_row, m_plane = a->block_tiles * kMRow;
  float *v = a->scratch, *m = v + kPoints * v_plane;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t first = item * a->block_tiles;
    const int64_t count = tiles - first < a->block_tiles ? tiles - first : a->block_tiles;
    inputs(a, first, count, v, v_row, v_plane);
    for (int64_t block = 0; block < out_blocks; block += kChunk) {
      const int64_t width = out_blocks - block < kChunk ? out_blocks - block : kChunk;
      products(a, count, block, width, v, v_row, v_plane, m, m_plane);
      outputs(a, first, count, block, width, m, m_plane);
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
