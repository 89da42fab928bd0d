// From a convolution to its kernel.
#include "engine/ops/convolution.h"

#include <memory>

#include "engine/ops/convolution_operand.h"
#include "engine/ops/depthwise.h"
#include "engine/ops/winograd.h"

namespace hasten {

namespace {

constexpr double kCacheBytes = 192 << 10;  // of a chunk's input: it stays in the L2 cache
constexpr int64_t kPassBytes = 16 << 10;   // of weights that a pass need not be cut for
constexpr int64_t kItems = 8;              // of a thread: enough to share evenly
constexpr int64_t kImagesTogether = 8;     // small ones that share the reading of weights
constexpr int64_t kSpreadGrain = 8192;     // elements that a thread moves at least

/// [group][out block][in block][tap][in channel][16], zero where a block has fewer channels.
void pack_weights(const Convolution& v, int64_t taps, const float* w, float* out) {
  const int64_t blocks = blocks_of(v.group_out);
  for (int64_t item = 0; item < v.groups * blocks; ++item) {
    const int64_t group = item / blocks, block = item % blocks;
    float* to = out + item * taps * v.group_in * kChannelBlock;
    for (int64_t first = 0; first < v.group_in; first += kChannelBlock) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t in = first; in < std::min(first + kChannelBlock, v.group_in); ++in) {
          for (int64_t lane = 0; lane < kChannelBlock; ++lane) {
            const int64_t o = block * kChannelBlock + lane;
            *to++ = o < v.group_out ? w[weight_index(v, taps, group, o, in, tap)] : 0.0f;
          }
        }
      }
    }
  }
}

/// One, two or three axes as depth, height, width.
WindowAxes three_axes(const std::vector<WindowAxis>& axes) {
  WindowAxes out;
  std::copy(axes.begin(), axes.end(), out.end() - static_cast<int64_t>(axes.size()));
  return out;
}

}  // namespace

int64_t items_wanted(int threads) { return threads > 1 ? kItems * threads : 1; }

bool plan_convolution(const Convolution& v, int64_t channels, int64_t pieces, int64_t wanted,
                      bool may_turn, WindowPlan* plan) {
  const WindowAxes axes = merge_axes(three_axes(v.axes));
  const bool by_column = axes[1].out == 1;
  const WindowAxis& banded = by_column ? axes[2] : axes[1];
  const auto stride = static_cast<double>(banded.stride);
  const double row_bytes = (banded.transposed ? 1 / stride : stride) * sizeof(float) *
                           static_cast<double>(channels * (by_column ? 1 : axes[2].in));
  pieces = std::max<int64_t>(1, pieces * axes[0].out);
  WindowCut cut;
  cut.band = band_rows(banded.out, row_bytes, kCacheBytes, (wanted + pieces - 1) / pieces);
  // A band thinner than a tile would waste it.
  cut.band = std::max(cut.band, std::min<int64_t>(banded.out, by_column ? 24 : 4));
  cut.may_turn = may_turn;
  return plan_windows(axes, cut, plan);
}

namespace {

/// How the sums of the taps of a pixel go to as many pixels of an output in planes.
struct Spread {
  int64_t taps = 1;  // 1: there is nothing to spread
  CopyArgs copy{};
};

/// A transposed convolution to few channels whose windows don't overlap: its taps are computed as
/// channels of a 1x1 convolution, so that they share vectors, and spread over the output after.
/// `v` becomes that convolution. Same bits: each output is the same one chain of sums.
Spread spread_taps(const LowerContext& c, Convolution& v, bool y_blocked) {
  Spread spread;
  const bool apart = std::all_of(v.axes.begin(), v.axes.end(), [](const WindowAxis& a) {
    return a.transposed && a.kernel == a.stride && a.dilation == 1 && a.pad == 0 &&
           a.out == a.in * a.stride;
  });
  if (!apart || v.axes.size() != 2 || v.groups != 1 || y_blocked || c.has_in(3)) return spread;
  const WindowAxis h = v.axes[0], w = v.axes[1];
  const int64_t taps = h.kernel * w.kernel;
  if (taps == 1 || v.group_out * taps > kChannelBlock) return spread;
  spread.taps = taps;
  // [image, channel, row, tap row, tap column, column] of the output.
  constexpr int64_t kBytes = sizeof(float);
  const int64_t dims[] = {v.images, v.group_out, h.in, h.kernel, w.kernel, w.in};
  const int64_t in[] = {
      h.in * w.in * kChannelBlock, taps, w.in * kChannelBlock, w.kernel, 1, kChannelBlock};
  const int64_t out[] = {
      v.group_out * h.out * w.out, h.out * w.out, h.kernel * w.out, w.out, 1, w.kernel};
  spread.copy.size = kBytes;
  spread.copy.rank = std::size(dims);
  for (size_t d = 0; d < std::size(dims); ++d) {
    spread.copy.dims[d] = dims[d];
    spread.copy.in_strides[d] = in[d] * kBytes;
    spread.copy.out_strides[d] = out[d] * kBytes;
  }
  v.group_out *= taps;  // channel `out * taps + tap`, as the weights lie
  for (WindowAxis& a : v.axes) {
    a = WindowAxis();
  }
  v.axes[0].in = v.axes[0].out = h.in;
  v.axes[1].in = v.axes[1].out = w.in;
  return spread;
}

/// A convolution of one plane along its last axis, without padding: its taps lie as the channels of
/// a 1x1 convolution would, one number apart. `v` becomes that; same chains of sums.
bool taps_as_channels(Convolution& v) {
  if (v.groups != 1 || v.group_in != 1 || v.transposed) return false;
  const WindowAxis last = v.axes.back();
  const bool flat = std::all_of(v.axes.begin(), v.axes.end() - 1, [](const WindowAxis& a) {
    return a.kernel == 1 && a.in == 1 && a.out == 1 && a.pad == 0;
  });
  const bool inside =
      last.pad == 0 && (last.out - 1) * last.stride + last.kernel <= last.in && last.dilation == 1;
  if (!flat || !inside || last.kernel == 1) return false;
  v.group_in = last.kernel;
  v.axes.back().kernel = 1;
  return true;
}

/// Images of a few pixels in a row each become rows of one image, so that weights are read once for
/// several of them. Steps are from image to image, in pixels.
void images_as_rows(int64_t images, int64_t together, int64_t in_step, int64_t out_step,
                    WindowPlan* plan) {
  const std::vector<WindowRect> rects = std::move(plan->rects);
  plan->rects.clear();
  plan->chunks = {0};
  for (int64_t first = 0; first < images; first += together) {
    for (WindowRect r : rects) {
      r.in += first * in_step;
      r.out += first * out_step;
      r.rows = std::min(together, images - first);
      r.in_row = in_step;
      r.out_row = out_step;
      plan->rects.push_back(r);
    }
    plan->chunks.push_back(static_cast<int64_t>(plan->rects.size()));
  }
}

Status lower_direct(LowerContext& c, Convolution v, bool x_blocked, bool y_blocked) {
  const Spread spread = spread_taps(c, v, y_blocked);
  const bool taps_in_row = !x_blocked && taps_as_channels(v);
  const std::string name = fmt::format("conv_{}_{}_f32", x_blocked ? "blocked" : "plain",
                                       spread.taps > 1 ? "spread"
                                       : y_blocked     ? "blocked"
                                                       : "plain");
  y_blocked |= spread.taps > 1;
  const int64_t blocks = blocks_of(v.group_out);
  // Enough channels to fill vectors: a blocked copy of the input pays.
  const bool copy = !x_blocked && !taps_in_row && v.group_in >= kChannelBlock &&
                    (v.groups == 1 || v.group_in % kChannelBlock == 0) && v.group_out >= 8;
  ConvArgs args{};
  args.x_blocked = x_blocked || copy;
  args.y_blocked = y_blocked;
  args.groups = v.groups;
  args.group_in = v.group_in;
  args.group_out = v.group_out;
  args.part_blocks = blocks;
  auto plan = std::make_shared<WindowPlan>();
  const int64_t wanted = items_wanted(c.threads());
  for (args.part_blocks = 4;; args.part_blocks /= 2) {
    args.parts = (blocks + args.part_blocks - 1) / args.part_blocks;
    const int64_t pieces = v.images * v.groups * args.parts;
    if (!plan_convolution(v, v.group_in, pieces, wanted, true, plan.get())) {
      c.refuse(name, "an axis is too long");
      return {};
    }
    if (args.part_blocks == 1 || pieces * plan->chunk_count() >= wanted) break;
  }
  set_window(args, v, *plan);
  args.in_channels = v.groups * v.group_in;
  if (taps_in_row) {
    args.in_channels = args.in_pixels;
    args.in_pixels = 1;
  }
  args.out_channels = v.groups * v.group_out;
  if (args.x_blocked) args.in_channels = round_up(args.in_channels, kChannelBlock);
  if (y_blocked) args.out_channels = round_up(args.out_channels, kChannelBlock);
  Scratch scratch;
  const int64_t taps = plan->taps;
  HASTEN_TRY(const ConvolutionOperand w,
             ConvolutionOperand::make(
                 c, scratch, 1,
                 fmt::format("conv16{}/{}",
                             spread.taps > 1 ? "s"
                             : v.transposed  ? "t"
                                             : "",
                             v.groups),
                 v.groups * blocks * taps * v.group_in * kChannelBlock,
                 [=](const float* from, float* to) { pack_weights(v, taps, from, to); }));
  HASTEN_TRY(const ConvolutionOperand bias,
             bias_operand(c, scratch, v.groups, v.group_out / spread.taps, spread.taps));
  ReorderArgs reorder{};
  reorder.channels = v.groups * v.group_in;
  reorder.pixels = args.in_pixels;
  const int64_t reorder_items = v.images * blocks_of(reorder.channels);
  const int64_t copied = copy ? scratch.floats(reorder_items * kChannelBlock * reorder.pixels) : 0;
  // Many weights for a block of channels: the kernel takes input channels in passes.
  const bool passes = taps * v.group_in * kChannelBlock * 4 > kPassBytes && args.out_pixels > 4;
  const int64_t partial =
      passes ? scratch.floats(v.images * v.groups * blocks * kChannelBlock * args.out_pixels) : 0;
  const int64_t apart =
      spread.taps > 1 ? scratch.floats(v.images * kChannelBlock * args.out_pixels) : 0;
  c.scratch(static_cast<size_t>(scratch.bytes));
  c.flops(2 * plan->tap_visits *
          static_cast<double>(v.images * v.groups * v.group_in * v.group_out));
  int64_t images = v.images;
  const int64_t image_floats = args.in_channels * args.in_pixels;
  const int64_t together =
      std::min(kImagesTogether, static_cast<int64_t>(kCacheBytes) /
                                    std::max<int64_t>(1, image_floats * sizeof(float)));
  const bool in_a_row = std::all_of(plan->rects.begin(), plan->rects.end(),
                                    [](const WindowRect& r) { return r.rows == 1; });
  if (images > 1 && together > 1 && args.chunk_count == 1 && in_a_row && !passes) {
    const int64_t out_floats = args.out_channels * args.out_pixels;
    images_as_rows(images, together, image_floats / (args.x_blocked ? kChannelBlock : 1),
                   out_floats / (y_blocked ? kChannelBlock : 1), plan.get());
    args.chunk_count = plan->chunk_count();
    images = 1;
  }
  const int64_t items = images * args.chunk_count * v.groups * args.parts;
  const bool residual = c.has_in(3);
  c.take(name, [=, kernel = c.kernels().conv_f32, to_blocked = c.kernels().reorder_to_blocked_f32,
                copy_elements = c.kernels().copy](const StepArgs& s) {
    ConvArgs a = args;
    a.rects = plan->rects.data();
    a.chunks = plan->chunks.data();
    a.x = s.input<float>(0);
    if (copy) {
      ReorderArgs r = reorder;
      r.x = a.x;
      r.y = reinterpret_cast<float*>(s.scratch + copied);
      s.parallel(reorder_items, 1, [&](int64_t begin, int64_t end) { to_blocked(&r, begin, end); });
      a.x = r.y;
    }
    a.w = w.get(s);
    a.bias = bias.get(s);
    a.residual = residual ? s.input<float>(3) : nullptr;
    a.partial = passes ? reinterpret_cast<float*>(s.scratch + partial) : nullptr;
    a.y = spread.taps > 1 ? reinterpret_cast<float*>(s.scratch + apart) : s.output<float>(0);
    s.parallel(items, 1, [&](int64_t begin, int64_t end) { kernel(&a, begin, end); });
    if (spread.taps == 1) return;
    CopyArgs to = spread.copy;
    to.in = reinterpret_cast<const char*>(a.y);
    to.out = s.output<char>(0);
    const int64_t elements = count_of({to.dims, static_cast<size_t>(to.rank)});
    s.parallel(elements, kSpreadGrain,
               [&](int64_t begin, int64_t end) { copy_elements(&to, begin, end); });
  });
  return {};
}

}  // namespace

Status lower_convolution(LowerContext& c, const Convolution& v) {
  const auto refuse = [&](std::string reason) {
    c.refuse("conv_f32", std::move(reason));
    return Status{};
  };
  if (c.in(0).dtype != DType::kF32) return refuse("not float");
  if (v.axes.size() > 3) return refuse("more than three spatial axes");
  const bool x_blocked = c.in(0).layout == Layout::kNchw16c;
  const bool y_blocked = c.out(0).layout == Layout::kNchw16c;
  if (c.has_in(3) && c.in(3).layout != c.out(0).layout) return refuse("the residual's layout");
  const bool aligned =
      v.groups == 1 || (v.group_in % kChannelBlock == 0 && v.group_out % kChannelBlock == 0);
  if (winograd_fits(c, v)) {
    HASTEN_CHECK(lower_winograd(c, v, x_blocked, y_blocked));
  } else if (v.group_in == 1 && v.group_out == 1 && x_blocked == y_blocked) {
    HASTEN_CHECK(lower_depthwise(c, v, x_blocked));
  } else if ((x_blocked || y_blocked) && !aligned) {
    return refuse("groups that do not fill channel blocks");
  } else {
    HASTEN_CHECK(lower_direct(c, v, x_blocked, y_blocked));
  }
  if (c.has_in(3)) c.in_place({3});
  return {};
}

}  // namespace hasten
