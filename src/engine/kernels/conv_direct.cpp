// Direct convolution: a tile of pixels x output channels stays in registers while all taps and
// input channels go by. Input and output in planes or in nchw16c.
#include "engine/kernels/activation.h"
#include "engine/kernels/window_args.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

// Pixels of a tile of 1, 2 or 4 blocks of 16 output channels: what the vector registers hold with
// the weights of one input channel and a broadcast pixel.
#if HASTEN_TIER == 2
constexpr int kMaxPixels[3] = {14, 14, 7};
constexpr int kUsualLog = 1;  // blocks (as a power of two) of the tiles that do most of the work
#elif HASTEN_TIER == 1
constexpr int kMaxPixels[3] = {6, 3, 1};
constexpr int kUsualLog = 0;
#else
constexpr int kMaxPixels[3] = {4, 1, 1};
constexpr int kUsualLog = 0;
#endif
constexpr int kMost = kMaxPixels[0];
// Of the weights of a pass over input channels. They stay in L2; in L1 where tiles have few pixels.
constexpr int64_t kWeightBytes = (HASTEN_TIER == 2 ? int64_t{128} : int64_t{20}) << 10;

/// How the pixels of a tile lie in the input: side by side, or a step known at run time apart.
enum Step { kBlockedNext, kBlockedAny, kPlainNext, kPlainAny };

/// A row of tiles: where it starts, and which input channels go by in this pass.
struct Tiles {
  const ConvArgs* a;
  const WindowRect* rect;
  const float* x;  // first tap of the first pixel, first channel of the pass
  const float* w;  // first out block, first channel of the pass
  const float* bias;
  const float* residual;
  float* y;
  float* partial;          // sums between passes, [pixel][16] in blocks of out_pixels
  int64_t channels;        // of the pass
  bool first, last;        // pass
  int64_t count;           // tiles
  int64_t x_step, y_step;  // floats from pixel to pixel
  int64_t partial_step;    // likewise
  int64_t lanes;           // channels in the last of the out blocks
  // The weights that come next, of which each tap fetches some lines of 64 bytes of each block into
  // L2.
  const float *next, *next_end;
  int64_t next_lines;
};

// What a vector is masked with so that the channels that pad a block are zero.
alignas(64) constexpr uint32_t kLaneMasks[2 * kLanes] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
                                                         ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};

HASTEN_INLINE F16 mask_lanes(F16 v, int64_t lanes) {
  const auto* mask = reinterpret_cast<const int32_t*>(kLaneMasks + kLanes - lanes);
  HASTEN_EACH v.v[i_] = hn::And(v.v[i_], hn::BitCast(DF(), hn::LoadU(DI(), mask + i_ * kWidth)));
  return v;
}

/// Writes finished sums [blocks][pixels][16] into planes.
__attribute__((noinline)) void finish_tile(const Tiles* t, float* sums, int pixels, int blocks,
                                           int64_t at) {
  const ConvArgs* a = t->a;
  for (int o = 0; o < blocks; ++o, sums += pixels * kLanes) {
    const int64_t lanes = o == blocks - 1 ? t->lanes : kLanes;
    const int64_t block = at + o * kLanes * a->out_pixels;
    for (int p = 0; t->residual && p < pixels; ++p) {
      const float* from = t->residual + block + p * t->y_step;
      for (int64_t i = 0; i < lanes; ++i) sums[p * kLanes + i] += from[i * a->out_pixels];
    }
    activate_all(sums, 1, 0, pixels * kLanes, a->activation, a->a, a->b);
    for (int64_t i = 0; i < lanes; ++i) {
      float* to = t->y + block + i * a->out_pixels;
      for (int p = 0; p < pixels; ++p) to[p * t->y_step] = sums[p * kLanes + i];
    }
  }
}

/// Activations other than clipping, on a row of finished tiles in nchw16c.
__attribute__((noinline)) void activate_row(const Tiles* t, int64_t pixels, int blocks) {
  const ConvArgs* a = t->a;
  const bool dense = t->y_step == kLanes;
  for (int o = 0; o < blocks; ++o) {
    float* y = t->y + o * kLanes * a->out_pixels;
    activate_all(y, dense ? 1 : pixels, t->y_step, dense ? pixels * kLanes : kLanes, a->activation,
                 a->a, a->b);
    if (o < blocks - 1 || t->lanes == kLanes) continue;
    for (int64_t p = 0; p < pixels; ++p, y += t->y_step) store(mask_lanes(load(y), t->lanes), y);
  }
}

template <int kPixels, int kBlocks, int kStep>
__attribute__((noinline)) void run_tiles(Tiles* t) {
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
  const int64_t y_block = a->out_pixels * kLanes;
  const bool single = r->taps[0] == 1 && r->taps[1] == 1 && r->taps[2] == 1;
  int64_t at = 0;
  for (int64_t i = 0; i < t->count; ++i, at += kPixels * t->y_step) {
    const float* x_block = t->x + i * kPixels * t->x_step;
    const float* w_in = t->w;
    float* partial = t->partial ? t->partial + i * kPixels * t->partial_step : nullptr;
    F16 sum[kBlocks][kPixels];
#define HASTEN_SUMS                                          \
  _Pragma("GCC unroll 16") for (int o = 0; o < kBlocks; ++o) \
      _Pragma("GCC unroll 16") for (int p = 0; p < kPixels; ++p)
    HASTEN_SUMS sum[o][p] = set1(0.0f);
    if (!t->first) {
      HASTEN_SUMS sum[o][p] = load(partial + o * y_block + p * t->partial_step);
    }
    // One tap: `channels` input channels from x on, with their weights.
    const auto tap = [&](const float* x, const float* w, int64_t channels)
        __attribute__((always_inline)) {
      if (t->next < t->next_end) {
        for (int64_t l = 0; l < t->next_lines; ++l) {
#pragma GCC unroll 4
          for (int o = 0; o < kBlocks; ++o) {
            __builtin_prefetch(t->next + o * w_block + l * kLanes, 0, 2);
          }
        }
        t->next += t->next_lines * kLanes;
      }
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
    };
    for (int64_t left = t->channels; left > 0; left -= kLanes) {
      const int64_t channels = left < kLanes ? left : kLanes;
      if (single) {
        tap(x_block, w_in + r->tap * channels * kLanes, channels);
      } else {
        for (int64_t d = 0; d < r->taps[0]; ++d) {
          for (int64_t h = 0; h < r->taps[1]; ++h) {
            const float* x = x_block + (d * a->steps.in_tap[0] + h * a->steps.in_tap[1]) * pixel;
            const float* w =
                w_in + (r->tap + d * a->steps.tap[0] + h * a->steps.tap[1]) * channels * kLanes;
            for (int64_t k = 0; k < r->taps[2]; ++k) {
              tap(x, w, channels);
              x += a->steps.in_tap[2] * pixel;
              w += a->steps.tap[2] * channels * kLanes;
            }
          }
        }
      }
      x_block += a->in_pixels * kLanes;
      w_in += a->taps * channels * kLanes;
    }
    if (!t->last) {
      HASTEN_SUMS store(sum[o][p], partial + o * y_block + p * t->partial_step);
      continue;
    }
    if (t->bias) {
      HASTEN_SUMS sum[o][p] = add(sum[o][p], load(t->bias + o * kLanes));
    }
    if (!a->y_blocked) {
      alignas(64) float sums[kBlocks * kPixels * kLanes];
      HASTEN_SUMS store(sum[o][p], sums + (o * kPixels + p) * kLanes);
      finish_tile(t, sums, kPixels, kBlocks, at);
      continue;
    }
    if (t->residual) {
      HASTEN_SUMS sum[o][p] = add(sum[o][p], load(t->residual + at + o * y_block + p * t->y_step));
    }
    if (a->activation == kActivationRelu) {
      HASTEN_SUMS sum[o][p] = relu(sum[o][p]);
    } else if (a->activation == kActivationClip) {
      HASTEN_SUMS sum[o][p] = clip(sum[o][p], a->a, a->b);
    }
    if (t->lanes < kLanes) {
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) {
        sum[kBlocks - 1][p] = mask_lanes(sum[kBlocks - 1][p], t->lanes);
      }
    }
    HASTEN_SUMS store(sum[o][p], t->y + at + o * y_block + p * t->y_step);
#undef HASTEN_SUMS
  }
  if (t->last && a->y_blocked && a->activation > kActivationClip) {
    activate_row(t, t->count * kPixels, kBlocks);
  }
}

using TilesFn = void (*)(Tiles*);

template <int kStep, int kPixels, int kLog>
constexpr TilesFn tiles_or_null() {
  if constexpr (kPixels <= kMaxPixels[kLog]) {
    return run_tiles<kPixels, 1 << kLog, kStep>;
  } else {
    return nullptr;
  }
}
// kTiles<kStep>[log2(blocks)][pixels - 1]; where a tile wouldn't fit the registers: null.
template <int kStep>
constexpr TilesFn kTiles[3][14] = {
#define HASTEN_TILES(log)                                                 \
  {                                                                       \
    tiles_or_null<kStep, 1, log>(), tiles_or_null<kStep, 2, log>(),       \
        tiles_or_null<kStep, 3, log>(), tiles_or_null<kStep, 4, log>(),   \
        tiles_or_null<kStep, 5, log>(), tiles_or_null<kStep, 6, log>(),   \
        tiles_or_null<kStep, 7, log>(), tiles_or_null<kStep, 8, log>(),   \
        tiles_or_null<kStep, 9, log>(), tiles_or_null<kStep, 10, log>(),  \
        tiles_or_null<kStep, 11, log>(), tiles_or_null<kStep, 12, log>(), \
        tiles_or_null<kStep, 13, log>(), tiles_or_null<kStep, 14, log>()  \
  }
    HASTEN_TILES(0), HASTEN_TILES(1), HASTEN_TILES(2)
#undef HASTEN_TILES
};

TilesFn find_tiles(bool blocked, int64_t in_col, int log, int64_t pixels) {
  // NOLINTBEGIN(clang-analyzer-core.uninitialized.UndefReturn): it can't see into the tables.
  if (blocked) return (in_col == 1 ? kTiles<kBlockedNext> : kTiles<kBlockedAny>)[log][pixels - 1];
  return (in_col == 1 ? kTiles<kPlainNext> : kTiles<kPlainAny>)[log][pixels - 1];
  // NOLINTEND(clang-analyzer-core.uninitialized.UndefReturn)
}

/// Columns of a rectangle as tiles, as equal as can be: `wide` tiles of one pixel more than others.
struct Cut {
  int64_t count, pixels, wide;
};
HASTEN_INLINE Cut cut_columns(int64_t cols) {
  const int64_t count = (cols + kMost - 1) / kMost;
  return {count, cols / count, cols % count};
}

/// The part of the work of one item that shares weights: rectangles of a chunk, out blocks
/// [block, block + blocks) of a group.
struct Share {
  const ConvArgs* a;
  const float* x;
  const float* w;
  const float* bias;
  const float* residual;
  float* y;
  float* partial;
  int64_t begin, end;  // rectangles
  int64_t blocks, last_lanes;
};

/// Blocks of up to 16 input channels, times taps, that a tile of the rectangle visits in a pass.
HASTEN_INLINE int64_t visits(const WindowRect* r, int64_t channels) {
  return r->taps[0] * r->taps[1] * r->taps[2] * ((channels + kLanes - 1) / kLanes);
}

/// One pass over a rectangle: tiles of all rows for all blocks of the share. `seen` visits came
/// before in this pass; returns how many there are now.
int64_t run_rect(const Share& s, const WindowRect* r, Tiles t, int64_t first_channel,
                 int64_t seen) {
  const ConvArgs* a = s.a;
  const int64_t pixel_x = a->x_blocked ? kLanes : 1, pixel_y = a->y_blocked ? kLanes : 1;
  const int64_t w_block = a->taps * a->group_in * kLanes, y_block = a->out_pixels * kLanes;
  const Cut cut = cut_columns(r->cols);
  t.rect = r;
  t.x_step = r->in_col * pixel_x;
  t.y_step = r->out_col * pixel_y;
  t.partial_step = r->out_col * kLanes;
  const int64_t pass_floats = a->taps * t.channels * kLanes;
  int64_t from = 0;
  for (int part = 0; part < 2; ++part) {
    const int64_t pixels = part == 0 ? cut.pixels + 1 : cut.pixels;
    t.count = part == 0 ? cut.wide : cut.count - cut.wide;
    if (t.count == 0) continue;
    for (int64_t o = 0; o < s.blocks;) {
      // As many blocks at a time as registers allow.
      int log = 2;
      while (log > 0 && (pixels > kMaxPixels[log] || o + (1 << log) > s.blocks)) --log;
      const TilesFn run = find_tiles(a->x_blocked, r->in_col, log, pixels);
      t.w = s.w + o * w_block + first_channel * a->taps * kLanes;
      t.bias = s.bias ? s.bias + o * kLanes : nullptr;
      t.lanes = o + (1 << log) == s.blocks ? s.last_lanes : kLanes;
      // Behind the last pass comes the first one of the next blocks.
      t.next = t.last ? s.w + (o + (1 << log)) * w_block : t.w + pass_floats;
      t.next_end = t.next + pass_floats;
      t.next += seen * t.next_lines * kLanes;
      for (int64_t row = 0; row < r->rows; ++row) {
        const int64_t in = r->in + row * r->in_row + from * r->in_col;
        const int64_t out = r->out + row * r->out_row + from * r->out_col;
        t.x = s.x + first_channel * a->in_pixels + in * pixel_x;
        t.y = s.y + out * pixel_y + o * y_block;
        t.residual = s.residual ? s.residual + out * pixel_y + o * y_block : nullptr;
        t.partial = s.partial ? s.partial + out * kLanes + o * y_block : nullptr;
        run(&t);
      }
      o += 1 << log;
    }
    seen += r->rows * t.count * visits(r, t.channels);
    from += t.count * pixels;
  }
  return seen;
}

/// All input channels for all rectangles; in passes where the weights would not stay in cache.
void run_share(const Share& s, int64_t tiles) {
  const ConvArgs* a = s.a;
  const int64_t block_bytes =
      a->taps * s.blocks * kLanes * kLanes * static_cast<int64_t>(sizeof(float));
  const int64_t in_blocks = (a->group_in + kLanes - 1) / kLanes;
  int64_t pass = in_blocks;
  if (a->partial != nullptr && tiles > 2 && in_blocks * block_bytes > kWeightBytes + block_bytes) {
    const int64_t fit = kWeightBytes / block_bytes;
    const int64_t passes = (in_blocks + (fit < 1 ? 1 : fit) - 1) / (fit < 1 ? 1 : fit);
    pass = (in_blocks + passes - 1) / passes;
  }
  Tiles t{};
  t.a = a;
  for (int64_t block = 0; block == 0 || block < in_blocks; block += pass) {
    const int64_t left = a->group_in - block * kLanes;
    t.first = block == 0;
    t.last = block + pass >= in_blocks;
    t.channels = t.last ? left : pass * kLanes;
    int64_t all = 0, seen = 0;
    for (int64_t i = s.begin; i < s.end; ++i) {
      const WindowRect* r = a->rects + i;
      all += r->rows * cut_columns(r->cols).count * visits(r, t.channels);
    }
    t.next_lines = all > 0 ? (a->taps * t.channels + all - 1) / all : 0;
    for (int64_t i = s.begin; i < s.end; ++i) {
      seen = run_rect(s, a->rects + i, t, block * kLanes, seen);
    }
    if (pass == 0) break;
  }
}

}  // namespace

void conv_f32(const ConvArgs* a, int64_t begin, int64_t end) {
  const int64_t group_blocks = (a->group_out + kLanes - 1) / kLanes;
  const int64_t w_block = a->taps * a->group_in * kLanes;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t part = item % a->parts, group = item / a->parts % a->groups;
    const int64_t chunk = item / a->parts / a->groups % a->chunk_count;
    const int64_t image = item / a->parts / a->groups / a->chunk_count;
    const int64_t first = part * a->part_blocks;
    const int64_t left = group_blocks - first;
    const int64_t blocks = left < a->part_blocks ? left : a->part_blocks;
    Share s{};
    s.a = a;
    s.x = a->x + (image * a->in_channels + group * a->group_in) * a->in_pixels;
    s.begin = a->chunks[chunk];
    s.end = a->chunks[chunk + 1];
    // Narrow tiles need several blocks to keep the multipliers busy: if they do a good part of the
    // work, the blocks of a share are as many as they want.
    int64_t work = 0, narrow = 0, single = 0, tiles = 0;
    for (int64_t i = s.begin; i < s.end; ++i) {
      const WindowRect* r = a->rects + i;
      const Cut cut = cut_columns(r->cols);
      const int64_t taps = r->taps[0] * r->taps[1] * r->taps[2];
      work += r->rows * r->cols * taps;
      if (cut.pixels <= kMaxPixels[1])
        narrow += r->rows * (cut.count - cut.wide) * cut.pixels * taps;
      if (cut.pixels <= kMaxPixels[2])
        single += r->rows * (cut.count - cut.wide) * cut.pixels * taps;
      tiles += r->rows * cut.count;
    }
    const int log = single * 2 > work ? 2 : narrow * 16 > work ? 1 : kUsualLog;
    for (int64_t o = 0; o < blocks; o += int64_t{1} << log) {
      const int64_t block = first + o;
      s.blocks = blocks - o < (1 << log) ? blocks - o : 1 << log;
      const int64_t channels = a->group_out - (block + s.blocks - 1) * kLanes;
      s.last_lanes = channels < kLanes ? channels : kLanes;
      const int64_t y =
          (image * a->out_channels + group * a->group_out + block * kLanes) * a->out_pixels;
      s.w = a->w + (group * group_blocks + block) * w_block;
      s.bias = a->bias ? a->bias + (group * group_blocks + block) * kLanes : nullptr;
      s.residual = a->residual ? a->residual + y : nullptr;
      s.y = a->y + y;
      s.partial = a->partial ? a->partial + ((image * a->groups + group) * group_blocks + block) *
                                                kLanes * a->out_pixels
                             : nullptr;
      run_share(s, tiles);
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
