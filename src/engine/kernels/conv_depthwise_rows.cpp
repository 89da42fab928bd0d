// Depthwise convolution with 3x3 or 5x5 taps in nchw16c: a tile of one or two rows of output pixels
// stays in registers, and each input vector, loaded once, goes to all the pixels that it is part
// of.
#include "engine/kernels/activation.h"
#include "engine/kernels/window_args.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

// Rows and columns of a tile: what the registers hold with two rows of weights.
#if HASTEN_TIER == 2
constexpr int kMostRows = 2, kMostCols = 7;
#elif HASTEN_TIER == 1
constexpr int kMostRows = 1, kMostCols = 3;
#else
constexpr int kMostRows = 1, kMostCols = 2;
#endif

/// Tiles side by side.
struct Strip {
  const DepthwiseRowsArgs* a;
  const float* w;
  const float* bias;
  const float* residual;  // first pixel of the first tile, as y
  float* y;
  const float* x;           // first tap of the first pixel of the first tile: may lie outside
  int64_t in_col;           // its column, negative outside
  int64_t first_row, rows;  // input rows of the tiles that are inside: [first_row, rows)
  int64_t count;            // tiles
  int64_t lanes;
};

template <int kTaps, int kStride, int kRows, int kCols>
__attribute__((noinline)) void run_strip(const Strip* t) {
  constexpr int kInCols = (kCols - 1) * kStride + kTaps;
  const DepthwiseRowsArgs* a = t->a;
  const int64_t row_floats = a->in_cols * kLanes, y_row = a->out_cols * kLanes;
#define HASTEN_SUMS                                        \
  _Pragma("GCC unroll 16") for (int r = 0; r < kRows; ++r) \
      _Pragma("GCC unroll 16") for (int p = 0; p < kCols; ++p)
  for (int64_t i = 0; i < t->count; ++i) {
    const int64_t in_col = t->in_col + i * kCols * kStride;
    const float* x = t->x + i * kCols * kStride * kLanes;
    // Columns [left, right) of the tile's input are inside.
    const int64_t left = -in_col, right = a->in_cols - in_col;
    F16 sum[kRows][kCols];
    HASTEN_SUMS sum[r][p] = set1(0.0f);
    // One row of input; kRow is its number in the tile.
    const auto row = [&]<int kRow>() __attribute__((always_inline)) {
      if (kRow < t->first_row || kRow >= t->rows) return;
      const float* from = x + kRow * row_floats;
      F16 w[kRows][kTaps];
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const int h = kRow - r * kStride;
#pragma GCC unroll 16
        for (int k = 0; k < kTaps; ++k) {
          if (h < 0 || h >= kTaps) continue;
          w[r][k] = load(t->w + (h * kTaps + k) * kLanes);
          pin(w[r][k]);
        }
      }
#pragma GCC unroll 32
      for (int j = 0; j < kInCols; ++j) {
        if (j < kTaps - 1 && j < left) continue;
        if (j > kInCols - kTaps && j >= right) continue;
        F16 v = load(from + j * kLanes);
        pin(v);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          const int h = kRow - r * kStride;
          if (h < 0 || h >= kTaps) continue;
#pragma GCC unroll 16
          for (int k = 0; k < kTaps; ++k) {
            const int p = j - k;
            if (p < 0 || p % kStride != 0 || p / kStride >= kCols) continue;
            sum[r][p / kStride] = fma(v, w[r][k], sum[r][p / kStride]);
          }
        }
      }
    };
    row.template operator()<0>();
    row.template operator()<1>();
    row.template operator()<2>();
    constexpr int kInRows = (kRows - 1) * kStride + kTaps;
    if constexpr (kInRows > 3) row.template operator()<3>();
    if constexpr (kInRows > 4) row.template operator()<4>();
    if constexpr (kInRows > 5) row.template operator()<5>();
    if constexpr (kInRows > 6) row.template operator()<6>();
    if (t->bias) {
      const F16 bias = load(t->bias);
      HASTEN_SUMS sum[r][p] = add(sum[r][p], bias);
    }
    if (t->residual) {
      const float* from = t->residual + i * kCols * kLanes;
      HASTEN_SUMS sum[r][p] = add(sum[r][p], load(from + r * y_row + p * kLanes));
    }
    if (a->activation == kActivationRelu) {
      HASTEN_SUMS sum[r][p] = relu(sum[r][p]);
    } else if (a->activation == kActivationClip) {
      HASTEN_SUMS sum[r][p] = clip(sum[r][p], a->a, a->b);
    }
    float* y = t->y + i * kCols * kLanes;
    HASTEN_SUMS store(sum[r][p], y + r * y_row + p * kLanes);
    if (a->activation > kActivationClip) {
      activate_all(y, kRows, y_row, kCols * kLanes, a->activation, a->a, a->b);
    }
    // The channels that pad the last block are zero.
    for (int64_t l = t->lanes; l < kLanes; ++l) {
      for (int r = 0; r < kRows; ++r) {
        for (int p = 0; p < kCols; ++p) y[r * y_row + p * kLanes + l] = 0;
      }
    }
  }
#undef HASTEN_SUMS
}

using StripFn = void (*)(const Strip*);

template <int kTaps, int kStride, int kRows, int kCols>
constexpr StripFn strip_or_null() {
  if constexpr (kCols <= kMostCols) {
    return run_strip<kTaps, kStride, kRows, kCols>;
  } else {
    return nullptr;
  }
}
// kStrips<taps, stride>[rows - 1][cols - 1]
template <int kTaps, int kStride>
constexpr StripFn kStrips[kMostRows][7] = {
#define HASTEN_STRIPS(rows)                                                                 \
  {                                                                                         \
    strip_or_null<kTaps, kStride, rows, 1>(), strip_or_null<kTaps, kStride, rows, 2>(),     \
        strip_or_null<kTaps, kStride, rows, 3>(), strip_or_null<kTaps, kStride, rows, 4>(), \
        strip_or_null<kTaps, kStride, rows, 5>(), strip_or_null<kTaps, kStride, rows, 6>(), \
        strip_or_null<kTaps, kStride, rows, 7>()                                            \
  }
    HASTEN_STRIPS(1),
#if HASTEN_TIER == 2
    HASTEN_STRIPS(2),
#endif
#undef HASTEN_STRIPS
};

const StripFn* strips_of(const DepthwiseRowsArgs* a, int rows) {
  if (a->taps == 3) return (a->stride == 1 ? kStrips<3, 1> : kStrips<3, 2>)[rows - 1];
  return (a->stride == 1 ? kStrips<5, 1> : kStrips<5, 2>)[rows - 1];
}

/// `rows` rows of output from `row` on, of a channel block: x and y at its first pixel.
void run_rows(Strip t, const float* x, const float* residual, float* y, int64_t row, int rows) {
  const DepthwiseRowsArgs* a = t.a;
  const int64_t in_row = row * a->stride - a->pad_row;
  t.first_row = in_row < 0 ? -in_row : 0;
  t.rows = a->in_rows - in_row;
  const StripFn* strips = strips_of(a, rows);
  // Tiles as equal as can be.
  const int64_t count = (a->out_cols + kMostCols - 1) / kMostCols;
  const int64_t cols = a->out_cols / count, wide = a->out_cols % count;
  int64_t col = 0;
  for (int part = 0; part < 2; ++part) {
    const int64_t width = part == 0 ? cols + 1 : cols;
    t.count = part == 0 ? wide : count - wide;
    if (t.count == 0) continue;
    const int64_t at = (row * a->out_cols + col) * kLanes;
    t.in_col = col * a->stride - a->pad_col;
    t.x = x + (in_row * a->in_cols + t.in_col) * kLanes;
    t.y = y + at;
    t.residual = residual ? residual + at : nullptr;
    strips[width - 1](&t);
    col += t.count * width;
  }
}

}  // namespace

void conv_depthwise_rows_f32(const DepthwiseRowsArgs* a, int64_t begin, int64_t end) {
  const int64_t blocks = (a->channels + kLanes - 1) / kLanes;
  const int64_t in_floats = a->in_rows * a->in_cols * kLanes;
  const int64_t out_floats = a->out_rows * a->out_cols * kLanes;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t block = item % blocks, band = item / blocks % a->bands;
    const int64_t plane = item / blocks / a->bands * blocks + block;
    const int64_t left = a->channels - block * kLanes;
    Strip t{};
    t.a = a;
    t.w = a->w + block * a->taps * a->taps * kLanes;
    t.bias = a->bias ? a->bias + block * kLanes : nullptr;
    t.lanes = left < kLanes ? left : kLanes;
    int64_t row = band * a->band_rows;
    const int64_t last = row + a->band_rows < a->out_rows ? row + a->band_rows : a->out_rows;
    while (row < last) {
      const int rows = last - row < kMostRows ? static_cast<int>(last - row) : kMostRows;
      run_rows(t, a->x + plane * in_floats,
               a->residual ? a->residual + plane * out_floats : nullptr, a->y + plane * out_floats,
               row, rows);
      row += rows;
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
