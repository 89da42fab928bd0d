#include "engine/ops/winograd.h"

#include "engine/ops/convolution_operand.h"

namespace hasten {

namespace {

constexpr int64_t kPoints = kWinogradIn * kWinogradIn;
constexpr int64_t kScratchBytes = 320 << 10;  // of an item's inputs: they stay in the L2 cache
constexpr int64_t kRows = 6;                  // tiles are multiplied in rows of this many
constexpr int64_t kFewest = 16;               // channels that fill a vector

int64_t tiles_of(int64_t pixels) { return (pixels + kWinogradOut - 1) / kWinogradOut; }

/// G g G^T of one output and input channel: 6x6 from 3x3.
void transform(const double (&g)[3][3], double (&u)[kWinogradIn][kWinogradIn]) {
  constexpr double kG[kWinogradIn][3] = {{1.0 / 4, 0, 0},
                                         {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                         {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                         {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                         {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                         {0, 0, 1}};
  double half[kWinogradIn][3];
  for (int i = 0; i < kWinogradIn; ++i) {
    for (int j = 0; j < 3; ++j) {
      half[i][j] = kG[i][0] * g[0][j] + kG[i][1] * g[1][j] + kG[i][2] * g[2][j];
    }
  }
  for (int i = 0; i < kWinogradIn; ++i) {
    for (int j = 0; j < kWinogradIn; ++j) {
      u[i][j] = half[i][0] * kG[j][0] + half[i][1] * kG[j][1] + half[i][2] * kG[j][2];
    }
  }
}

/// [M][C][3][3] to [36 points][out block][in channel][16], zero where a block has fewer channels.
void pack_weights(int64_t in_channels, int64_t out_channels, const float* w, float* out) {
  const int64_t plane = blocks_of(out_channels) * in_channels * kChannelBlock;
  for (int64_t o = 0; o < out_channels; ++o) {
    for (int64_t i = 0; i < in_channels; ++i, w += 9) {
      double g[3][3], u[kWinogradIn][kWinogradIn];
      for (int k = 0; k < 9; ++k) g[k / 3][k % 3] = w[k];
      transform(g, u);
      float* to = out + (o / kChannelBlock * in_channels + i) * kChannelBlock + o % kChannelBlock;
      for (int k = 0; k < kPoints; ++k) {
        to[k * plane] = static_cast<float>(u[k / kWinogradIn][k % kWinogradIn]);
      }
    }
  }
}

/// Tiles of an item: as many as the cache holds, cut evenly.
int64_t block_tiles(int64_t tiles, int64_t in_channels) {
  const int64_t tile_bytes =
      kPoints * winograd_row(in_channels) * static_cast<int64_t>(sizeof(float));
  const int64_t most = std::clamp<int64_t>(kScratchBytes / tile_bytes / kRows, 1, 4) * kRows;
  const int64_t items = (tiles + most - 1) / most;
  return (tiles + items - 1) / items;
}

}  // namespace

bool winograd_fits(const LowerContext& c, const Convolution& v) {
  if (c.exact_math() || v.transposed || v.groups != 1 || v.axes.size() != 2) return false;
  for (const WindowAxis& axis : v.axes) {
    if (axis.kernel != 3 || axis.stride != 1 || axis.dilation != 1) return false;
  }
  if (v.group_in < kFewest || v.group_out < kFewest) return false;
  const Tensor* w = c.constant(1);
  if (w == nullptr || !c.in(1).constant) return false;
  // Of the 4x4 tiles that cover the output, enough must be output.
  const int64_t rows = v.axes[0].out, cols = v.axes[1].out;
  const double used =
      static_cast<double>(rows * cols) / static_cast<double>(tiles_of(rows) * tiles_of(cols) * 16);
  return rows * cols >= 64 && used >= 0.6;
}

Status lower_winograd(LowerContext& c, const Convolution& v, bool x_blocked, bool y_blocked) {
  WinogradArgs args{};
  args.images = v.images;
  args.in_channels = v.group_in;
  args.out_channels = v.group_out;
  args.in_rows = v.axes[0].in;
  args.in_cols = v.axes[1].in;
  args.out_rows = v.axes[0].out;
  args.out_cols = v.axes[1].out;
  args.pad_row = v.axes[0].pad;
  args.pad_col = v.axes[1].pad;
  args.tile_rows = tiles_of(args.out_rows);
  args.tile_cols = tiles_of(args.out_cols);
  const int64_t tiles = v.images * args.tile_rows * args.tile_cols;
  args.block_tiles = block_tiles(tiles, v.group_in);
  set_activation(args, v.activation);
  const int64_t items = (tiles + args.block_tiles - 1) / args.block_tiles;

  Scratch scratch;
  HASTEN_TRY(
      const ConvolutionOperand u,
      ConvolutionOperand::make(c, scratch, 1, "winograd",
                               kPoints * blocks_of(v.group_out) * v.group_in * kChannelBlock,
                               [in = v.group_in, out = v.group_out](const float* from, float* to) {
                                 pack_weights(in, out, from, to);
                               }));
  HASTEN_TRY(const ConvolutionOperand bias, bias_operand(c, scratch, 1, v.group_out));
  // Planes are reordered to blocks before and back after.
  ReorderArgs in{}, out{};
  in.channels = v.group_in;
  in.pixels = args.in_rows * args.in_cols;
  out.channels = v.group_out;
  out.pixels = args.out_rows * args.out_cols;
  const int64_t in_items = v.images * blocks_of(in.channels);
  const int64_t out_items = v.images * blocks_of(out.channels);
  const bool residual = c.has_in(3);
  const int64_t x_at = x_blocked ? 0 : scratch.floats(in_items * kChannelBlock * in.pixels);
  const int64_t y_at = y_blocked ? 0 : scratch.floats(out_items * kChannelBlock * out.pixels);
  const int64_t r_at =
      y_blocked || !residual ? 0 : scratch.floats(out_items * kChannelBlock * out.pixels);
  const int64_t slots = std::min<int64_t>(c.threads(), items);
  const int64_t slot_floats = winograd_floats(v.group_in, args.block_tiles);
  const int64_t slots_at = scratch.floats(slots * slot_floats);
  c.scratch(static_cast<size_t>(scratch.bytes));
  c.flops(2 * 9 * static_cast<double>(v.images * out.pixels) *
          static_cast<double>(v.group_in * v.group_out));
  c.take("conv_winograd_f32", [=, kernel = c.kernels().conv_winograd_f32,
                               to_blocked = c.kernels().reorder_to_blocked_f32,
                               to_plain = c.kernels().reorder_to_plain_f32](const StepArgs& s) {
    const auto floats = [&](int64_t at) { return reinterpret_cast<float*>(s.scratch + at); };
    const auto reorder = [&](ReorderArgs r, auto how, int64_t count, const float* from, float* to) {
      r.x = from;
      r.y = to;
      s.parallel(count, 1, [&](int64_t begin, int64_t end) { how(&r, begin, end); });
      return to;
    };
    WinogradArgs a = args;
    a.x = s.input<float>(0);
    if (!x_blocked) a.x = reorder(in, to_blocked, in_items, a.x, floats(x_at));
    a.u = u.get(s);
    a.bias = bias.get(s);
    a.residual = residual ? s.input<float>(3) : nullptr;
    if (residual && !y_blocked)
      a.residual = reorder(out, to_blocked, out_items, a.residual, floats(r_at));
    a.y = y_blocked ? s.output<float>(0) : floats(y_at);
    s.parallel_slots(slots, items, [&](int64_t slot, int64_t item) {
      WinogradArgs own = a;
      own.scratch = floats(slots_at) + slot * slot_floats;
      kernel(&own, item, item + 1);
    });
    if (!y_blocked) reorder(out, to_plain, out_items, a.y, s.output<float>(0));
  });
  return {};
}

}  // namespace hasten
