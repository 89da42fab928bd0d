// Direct convolution: a tile of pixels x output channels stays in registers while all taps and
// input channels go by. Input and output in planes or in nchw16c.
#include "engine/kernels/activation.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

// Pixels of a tile of 1, 2 or 4 blocks of 16 output channels: what the vector registers hold with
// the weights of one input channel and a broadcast pixel.
#if HASTEN_TIER == 2
constexpr int kMaxPixels[3] = {14, 14, 7};
#elif HASTEN_TIER == 1
constexpr int kMaxPixels[3] = {6, 3, 1};
#else
constexpr int kMaxPixels[3] = {4, 1, 1};
#endif
constexpr int kMost = kMaxPixels[0];

/// How the pixels of a tile lie in the input: side by side, or a step known at run time apart.
enum Step { kBlockedNext, kBlockedAny, kPlainNext, kPlainAny };

/// One tile: where it starts and what it has to know of the convolution.
struct Tile {
  const ConvArgs* a;
  const WindowRect* rect;
  const float* x;  // first tap of the first pixel, first channel of the group
  const float* w;  // first out block of the tile
  const float* bias;
  const float* residual;
  float* y;
  int64_t x_step, y_step;  // floats from pixel to pixel
  int64_t lanes;           // channels in the last of the tile's out blocks
};

/// Writes sums [blocks][pixels][16] with what follows them; the slow way for all that is rare.
__attribute__((noinline)) void finish_tile(const Tile* t, const float* sums, int pixels,
                                           int blocks) {
  const ConvArgs* a = t->a;
  const int64_t lane_step = a->y_blocked ? 1 : a->out_pixels;
  for (int o = 0; o < blocks; ++o) {
    const int64_t lanes = o == blocks - 1 ? t->lanes : kLanes;
    for (int p = 0; p < pixels; ++p) {
      const int64_t at = o * kLanes * a->out_pixels + p * t->y_step;
      F16 v = load(sums + (o * pixels + p) * kLanes);
      alignas(64) float out[kLanes];
      if (t->residual) {
        alignas(64) float r[kLanes] = {};
        for (int64_t i = 0; i < lanes; ++i) r[i] = t->residual[at + i * lane_step];
        v = add(v, load(r));
      }
      store(activate(v, a->activation, a->a, a->b), out);
      for (int64_t i = 0; i < lanes; ++i) t->y[at + i * lane_step] = out[i];
      // The channels that pad the last block are zero.
      if (a->y_blocked) {
        for (int64_t i = lanes; i < kLanes; ++i) t->y[at + i] = 0;
      }
    }
  }
}

template <int kPixels, int kBlocks, int kStep>
__attribute__((noinline)) void tile(const Tile* t) {
  constexpr bool kPlain = kStep >= kPlainNext;
  const ConvArgs* a = t->a;
  const WindowRect* r = t->rect;
  const int64_t step = kStep == kBlockedNext ? kLanes : kStep == kPlainNext ? 1 : t->x_step;
  const int64_t pixel = kPlain ? 1 : kLanes;
  int64_t channel = 1;
  if (kPlain) {
    channel = a->in_pixels;
    asm("" : "+r"(channel));  // else there would be a second copy of all loops for one pixel
  }
  const int64_t w_block = a->taps * a->group_in * kLanes;
  F16 sum[kBlocks][kPixels];
#pragma GCC unroll 16
  for (int o = 0; o < kBlocks; ++o) {
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) sum[o][p] = set1(0.0f);
  }
  const float* x_block = t->x;
  const float* w_in = t->w;
  for (int64_t left = a->group_in; left > 0; left -= kLanes) {
    const int64_t channels = left < kLanes ? left : kLanes;
    for (int64_t d = 0; d < r->taps[0]; ++d) {
      for (int64_t h = 0; h < r->taps[1]; ++h) {
        const float* x_row = x_block + (d * a->steps.in_tap[0] + h * a->steps.in_tap[1]) * pixel;
        const float* w_row =
            w_in + (r->tap + d * a->steps.tap[0] + h * a->steps.tap[1]) * channels * kLanes;
        for (int64_t k = 0; k < r->taps[2]; ++k) {
          const float* x = x_row;
          const float* w = w_row;
#pragma GCC unroll 1
          for (int64_t c = 0; c < channels; ++c) {
            F16 weight[kBlocks];
#pragma GCC unroll 4
            for (int o = 0; o < kBlocks; ++o) weight[o] = load(w + o * w_block);
#pragma GCC unroll 16
            for (int p = 0; p < kPixels; ++p) {
              const F16 v = set1(x[p * step]);
#pragma GCC unroll 4
              for (int o = 0; o < kBlocks; ++o) sum[o][p] = fma(v, weight[o], sum[o][p]);
            }
            x += channel;
            w += kLanes;
          }
          x_row += a->steps.in_tap[2] * pixel;
          w_row += a->steps.tap[2] * channels * kLanes;
        }
      }
    }
    x_block += a->in_pixels * kLanes;
    w_in += a->taps * channels * kLanes;
  }
  if (t->bias) {
#pragma GCC unroll 16
    for (int o = 0; o < kBlocks; ++o) {
      const F16 bias = load(t->bias + o * kLanes);
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) sum[o][p] = add(sum[o][p], bias);
    }
  }
  if (!a->y_blocked || t->lanes < kLanes || a->activation > kActivationClip) {
    alignas(64) float sums[kBlocks * kPixels * kLanes];
#pragma GCC unroll 16
    for (int o = 0; o < kBlocks; ++o) {
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) store(sum[o][p], sums + (o * kPixels + p) * kLanes);
    }
    finish_tile(t, sums, kPixels, kBlocks);
    return;
  }
  const int64_t y_block = a->out_pixels * kLanes;
  if (t->residual) {
#pragma GCC unroll 16
    for (int o = 0; o < kBlocks; ++o) {
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) {
        sum[o][p] = add(sum[o][p], load(t->residual + o * y_block + p * t->y_step));
      }
    }
  }
  if (a->activation != kActivationNone) {
    const F16 low = set1(a->activation == kActivationRelu ? 0.0f : a->a);
    const F16 high = set1(a->activation == kActivationRelu ? __builtin_inff() : a->b);
#pragma GCC unroll 16
    for (int o = 0; o < kBlocks; ++o) {
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) sum[o][p] = min(max(sum[o][p], low), high);
    }
  }
#pragma GCC unroll 16
  for (int o = 0; o < kBlocks; ++o) {
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) store(sum[o][p], t->y + o * y_block + p * t->y_step);
  }
}

using TileFn = void (*)(const Tile*);

// tiles<kStep>[log2(blocks)][pixels - 1]; where a tile wouldn't fit the registers: null.
template <int kStep, int kPixels, int kLog>
constexpr TileFn tile_or_null() {
  if constexpr (kPixels <= kMaxPixels[kLog]) {
    return tile<kPixels, 1 << kLog, kStep>;
  } else {
    return nullptr;
  }
}
template <int kStep>
constexpr TileFn kTiles[3][14] = {
#define HASTEN_TILES(log)                                                                        \
  {                                                                                              \
    tile_or_null<kStep, 1, log>(), tile_or_null<kStep, 2, log>(), tile_or_null<kStep, 3, log>(), \
        tile_or_null<kStep, 4, log>(), tile_or_null<kStep, 5, log>(),                            \
        tile_or_null<kStep, 6, log>(), tile_or_null<kStep, 7, log>(),                            \
        tile_or_null<kStep, 8, log>(), tile_or_null<kStep, 9, log>(),                            \
        tile_or_null<kStep, 10, log>(), tile_or_null<kStep, 11, log>(),                          \
        tile_or_null<kStep, 12, log>(), tile_or_null<kStep, 13, log>(),                          \
        tile_or_null<kStep, 14, log>()                                                           \
  }
    HASTEN_TILES(0), HASTEN_TILES(1), HASTEN_TILES(2)
#undef HASTEN_TILES
};

TileFn find_tile(bool blocked, int64_t in_col, int log, int64_t pixels) {
  if (blocked) return (in_col == 1 ? kTiles<kBlockedNext> : kTiles<kBlockedAny>)[log][pixels - 1];
  return (in_col == 1 ? kTiles<kPlainNext> : kTiles<kPlainAny>)[log][pixels - 1];
}

/// `count` tiles of `pixels` pixels from column `from` on, in all rows, for the blocks of a part.
void run_columns(const ConvArgs* a, const WindowRect* r, Tile t, int64_t from, int64_t count,
                 int64_t pixels, int64_t blocks, int64_t last_lanes) {
  const int64_t pixel_x = a->x_blocked ? kLanes : 1, pixel_y = a->y_blocked ? kLanes : 1;
  const int64_t w_block = a->taps * a->group_in * kLanes, y_block = a->out_pixels * kLanes;
  const Tile start = t;
  for (int64_t o = 0; o < blocks;) {
    // As many blocks at a time as registers allow.
    int log = 2;
    while (log > 0 && (pixels > kMaxPixels[log] || o + (1 << log) > blocks)) --log;
    const TileFn run = find_tile(a->x_blocked, r->in_col, log, pixels);
    t.w = start.w + o * w_block;
    t.bias = start.bias ? start.bias + o * kLanes : nullptr;
    t.lanes = o + (1 << log) == blocks ? last_lanes : kLanes;
    for (int64_t row = 0; row < r->rows; ++row) {
      int64_t x = row * r->in_row + from * r->in_col;
      int64_t y = row * r->out_row + from * r->out_col;
      for (int64_t i = 0; i < count; ++i) {
        t.x = start.x + x * pixel_x;
        t.y = start.y + y * pixel_y + o * y_block;
        t.residual = start.residual ? start.residual + y * pixel_y + o * y_block : nullptr;
        run(&t);
        x += pixels * r->in_col;
        y += pixels * r->out_col;
      }
    }
    o += 1 << log;
  }
}

}  // namespace

void conv_f32(const ConvArgs* a, int64_t begin, int64_t end) {
  const int64_t pixel_x = a->x_blocked ? kLanes : 1, pixel_y = a->y_blocked ? kLanes : 1;
  const int64_t group_blocks = (a->group_out + kLanes - 1) / kLanes;
  const int64_t w_block = a->taps * a->group_in * kLanes;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t part = item % a->parts, group = item / a->parts % a->groups;
    const int64_t chunk = item / a->parts / a->groups % a->chunk_count;
    const int64_t image = item / a->parts / a->groups / a->chunk_count;
    const int64_t block = part * a->part_blocks;
    const int64_t left = group_blocks - block;
    const int64_t blocks = left < a->part_blocks ? left : a->part_blocks;
    // Lanes of the part's last block.
    const int64_t channels = a->group_out - (block + blocks - 1) * kLanes;
    const int64_t lanes = channels < kLanes ? channels : kLanes;
    const float* x = a->x + (image * a->in_channels + group * a->group_in) * a->in_pixels;
    const int64_t y_offset =
        (image * a->out_channels + group * a->group_out + block * kLanes) * a->out_pixels;
    Tile t{};
    t.a = a;
    t.w = a->w + (group * group_blocks + block) * w_block;
    t.bias = a->bias ? a->bias + (group * group_blocks + block) * kLanes : nullptr;
    for (int64_t i = a->chunks[chunk]; i < a->chunks[chunk + 1]; ++i) {
      const WindowRect* r = a->rects + i;
      t.rect = r;
      t.x = x + r->in * pixel_x;
      t.y = a->y + y_offset + r->out * pixel_y;
      t.residual = a->residual ? a->residual + y_offset + r->out * pixel_y : nullptr;
      t.x_step = r->in_col * pixel_x;
      t.y_step = r->out_col * pixel_y;
      // Tiles as equal as can be: `wide` of one pixel more, then the others.
      const int64_t count = (r->cols + kMost - 1) / kMost;
      const int64_t pixels = r->cols / count, wide = r->cols % count;
      if (wide > 0) run_columns(a, r, t, 0, wide, pixels + 1, blocks, lanes);
      run_columns(a, r, t, wide * (pixels + 1), count - wide, pixels, blocks, lanes);
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
