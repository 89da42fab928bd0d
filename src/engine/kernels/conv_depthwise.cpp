// Depthwise convolution: one input channel for each output channel.
#include "engine/kernels/activation.h"
#include "engine/kernels/window_args.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

// Pixels of a tile in nchw16c: their sums stay in registers while the taps go by.
#if HASTEN_TIER == 2
constexpr int kMost = 12;
#elif HASTEN_TIER == 1
constexpr int kMost = 6;
#else
constexpr int kMost = 2;
#endif

struct Tile {
  const DepthwiseArgs* a;
  const WindowRect* rect;
  const float* x;
  const float* w;
  const float* bias;
  const float* residual;
  float* y;
  int64_t x_step, y_step;
  int64_t lanes;
};

template <int kPixels>
__attribute__((noinline)) void tile(const Tile* t) {
  const DepthwiseArgs* a = t->a;
  const WindowRect* r = t->rect;
  const int64_t step = t->x_step;
  F16 sum[kPixels];
#pragma GCC unroll 16
  for (int p = 0; p < kPixels; ++p) sum[p] = set1(0.0f);
  for (int64_t d = 0; d < r->taps[0]; ++d) {
    for (int64_t h = 0; h < r->taps[1]; ++h) {
      const float* x = t->x + (d * a->steps.in_tap[0] + h * a->steps.in_tap[1]) * kLanes;
      const float* w = t->w + (r->tap + d * a->steps.tap[0] + h * a->steps.tap[1]) * kLanes;
#pragma GCC unroll 1
      for (int64_t k = 0; k < r->taps[2]; ++k) {
        const F16 weight = load(w);
#pragma GCC unroll 16
        for (int p = 0; p < kPixels; ++p) sum[p] = fma(load(x + p * step), weight, sum[p]);
        x += a->steps.in_tap[2] * kLanes;
        w += a->steps.tap[2] * kLanes;
      }
    }
  }
  const F16 bias = t->bias ? load(t->bias) : set1(0.0f);
#pragma GCC unroll 16
  for (int p = 0; p < kPixels; ++p) {
    if (t->bias) sum[p] = add(sum[p], bias);
    if (t->residual) sum[p] = add(sum[p], load(t->residual + p * t->y_step));
  }
  if (a->activation <= kActivationClip) {
    if (a->activation != kActivationNone) {
      const F16 low = set1(a->activation == kActivationRelu ? 0.0f : a->a);
      const F16 high = set1(a->activation == kActivationRelu ? __builtin_inff() : a->b);
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) sum[p] = min(max(sum[p], low), high);
    }
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) store(sum[p], t->y + p * t->y_step);
  } else {
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) store(sum[p], t->y + p * t->y_step);
    activate_all(t->y, kPixels, t->y_step, kLanes, a->activation, a->a, a->b);
  }
  // The channels that pad the last block are zero.
  if (t->lanes < kLanes) {
    for (int p = 0; p < kPixels; ++p) {
      for (int64_t i = t->lanes; i < kLanes; ++i) t->y[p * t->y_step + i] = 0;
    }
  }
}

using TileFn = void (*)(const Tile*);

template <int kPixels>
constexpr TileFn tile_or_null() {
  if constexpr (kPixels <= kMost) {
    return tile<kPixels>;
  } else {
    return nullptr;
  }
}
constexpr TileFn kTiles[12] = {tile_or_null<1>(),  tile_or_null<2>(),  tile_or_null<3>(),
                               tile_or_null<4>(),  tile_or_null<5>(),  tile_or_null<6>(),
                               tile_or_null<7>(),  tile_or_null<8>(),  tile_or_null<9>(),
                               tile_or_null<10>(), tile_or_null<11>(), tile_or_null<12>()};

/// One rectangle of one channel in planes; vectors lie along rows.
void plane_rect(const DepthwiseArgs* a, const WindowRect* r, const float* x, const float* w,
                F16 bias, const float* residual, float* y) {
  for (int64_t row = 0; row < r->rows; ++row) {
    for (int64_t col = 0; col < r->cols; col += kLanes) {
      const int64_t n = r->cols - col < kLanes ? r->cols - col : kLanes;
      const float* x_first = x + r->in + row * r->in_row + col * r->in_col;
      F16 sum = set1(0.0f);
      for (int64_t d = 0; d < r->taps[0]; ++d) {
        for (int64_t h = 0; h < r->taps[1]; ++h) {
          const float* xt = x_first + d * a->steps.in_tap[0] + h * a->steps.in_tap[1];
          const float* wt = w + r->tap + d * a->steps.tap[0] + h * a->steps.tap[1];
          for (int64_t k = 0; k < r->taps[2]; ++k) {
            F16 v;
            if (r->in_col == 1) {
              v = load_n(xt, n);
            } else {
              alignas(64) float lanes[kLanes] = {};
              for (int64_t i = 0; i < n; ++i) lanes[i] = xt[i * r->in_col];
              v = load(lanes);
            }
            sum = fma(v, set1(*wt), sum);
            xt += a->steps.in_tap[2];
            wt += a->steps.tap[2];
          }
        }
      }
      const int64_t at = r->out + row * r->out_row + col * r->out_col;
      if (a->bias) sum = add(sum, bias);
      if (r->out_col == 1) {
        if (residual) sum = add(sum, load_n(residual + at, n));
        store_n(activate(sum, a->activation, a->a, a->b), y + at, n);
      } else {
        alignas(64) float lanes[kLanes] = {};
        if (residual) {
          for (int64_t i = 0; i < n; ++i) lanes[i] = residual[at + i * r->out_col];
          sum = add(sum, load(lanes));
        }
        store(activate(sum, a->activation, a->a, a->b), lanes);
        for (int64_t i = 0; i < n; ++i) y[at + i * r->out_col] = lanes[i];
      }
    }
  }
}

}  // namespace

void conv_depthwise_blocked_f32(const DepthwiseArgs* a, int64_t begin, int64_t end) {
  const int64_t blocks = (a->channels + kLanes - 1) / kLanes;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t block = item % blocks, chunk = item / blocks % a->chunk_count;
    const int64_t image = item / blocks / a->chunk_count;
    const float* x = a->x + (image * blocks + block) * kLanes * a->in_pixels;
    const int64_t y_offset = (image * blocks + block) * kLanes * a->out_pixels;
    const int64_t left = a->channels - block * kLanes;
    Tile t{};
    t.a = a;
    t.w = a->w + block * a->taps * kLanes;
    t.bias = a->bias ? a->bias + block * kLanes : nullptr;
    t.lanes = left < kLanes ? left : kLanes;
    for (int64_t i = a->chunks[chunk]; i < a->chunks[chunk + 1]; ++i) {
      const WindowRect* r = a->rects + i;
      t.rect = r;
      t.x_step = r->in_col * kLanes;
      t.y_step = r->out_col * kLanes;
      const int64_t count = (r->cols + kMost - 1) / kMost;
      const int64_t pixels = r->cols / count, wide = r->cols % count;
      for (int64_t row = 0; row < r->rows; ++row) {
        int64_t in = r->in + row * r->in_row, out = r->out + row * r->out_row;
        for (int64_t j = 0; j < count; ++j) {
          const int64_t n = j < wide ? pixels + 1 : pixels;
          t.x = x + in * kLanes;
          t.y = a->y + y_offset + out * kLanes;
          t.residual = a->residual ? a->residual + y_offset + out * kLanes : nullptr;
          kTiles[n - 1](&t);
          in += n * r->in_col;
          out += n * r->out_col;
        }
      }
    }
  }
}

void conv_depthwise_plain_f32(const DepthwiseArgs* a, int64_t begin, int64_t end) {
  for (int64_t item = begin; item < end; ++item) {
    const int64_t channel = item % a->channels, chunk = item / a->channels % a->chunk_count;
    const int64_t plane = item / a->channels / a->chunk_count * a->channels + channel;
    const F16 bias = set1(a->bias ? a->bias[channel] : 0.0f);
    for (int64_t i = a->chunks[chunk]; i < a->chunks[chunk + 1]; ++i) {
      plane_rect(a, a->rects + i, a->x + plane * a->in_pixels, a->w + channel * a->taps, bias,
                 a->residual ? a->residual + plane * a->out_pixels : nullptr,
                 a->y + plane * a->out_pixels);
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
