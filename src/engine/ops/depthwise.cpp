#include "engine/ops/depthwise.h"

#include <algorithm>
#include <memory>

#include "engine/ops/convolution_operand.h"

namespace hasten {

namespace {

constexpr int64_t kLeastBand = 4;  // rows
constexpr int64_t kMostOut = 1 << 20;

/// [block][tap][16].
void pack_depthwise(int64_t channels, int64_t taps, const float* w, float* out) {
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t k = 0; k < taps; ++k) {
      out[(c / kChannelBlock * taps + k) * kChannelBlock + c % kChannelBlock] = w[c * taps + k];
    }
  }
}

Result<ConvolutionOperand> weights_operand(LowerContext& c, Scratch& scratch, int64_t channels,
                                           int64_t taps) {
  return ConvolutionOperand::make(
      c, scratch, 1, "depthwise16", round_up(channels, kChannelBlock) * taps,
      [=](const float* from, float* to) { pack_depthwise(channels, taps, from, to); });
}

template <class Args, class Kernel>
void run_items(const StepArgs& s, Args a, const ConvolutionOperand& w,
               const ConvolutionOperand& bias, bool residual, int64_t items, Kernel kernel) {
  a.x = s.input<float>(0);
  a.w = w.get(s);
  a.bias = bias.get(s);
  a.residual = residual ? s.input<float>(3) : nullptr;
  a.y = s.output<float>(0);
  s.parallel(items, 1, [&](int64_t begin, int64_t end) { kernel(&a, begin, end); });
}

/// Is it what conv_depthwise_rows_f32 does?
bool rows_fit(const Convolution& v) {
  if (v.transposed || v.axes.size() != 2) return false;
  const WindowAxis &row = v.axes[0], &col = v.axes[1];
  const auto fits = [&](const WindowAxis& a) {
    const auto taps = [&](int64_t o) {
      return window_taps(o, a.stride, a.dilation, a.pad, a.kernel, a.in).count;
    };
    return a.kernel == row.kernel && a.stride == row.stride && a.dilation == 1 && a.out > 0 &&
           a.out <= kMostOut && taps(0) > 0 && taps(a.out - 1) > 0;
  };
  return (row.kernel == 3 || row.kernel == 5) && (row.stride == 1 || row.stride == 2) &&
         fits(row) && fits(col);
}

Status lower_rows(LowerContext& c, const Convolution& v) {
  const WindowAxis &row = v.axes[0], &col = v.axes[1];
  const int64_t channels = v.groups, blocks = blocks_of(channels);
  DepthwiseRowsArgs args{};
  args.channels = channels;
  args.in_rows = row.in;
  args.in_cols = col.in;
  args.out_rows = row.out;
  args.out_cols = col.out;
  args.pad_row = row.pad;
  args.pad_col = col.pad;
  args.taps = static_cast<int32_t>(row.kernel);
  args.stride = static_cast<int32_t>(row.stride);
  set_activation(args, v.activation);
  const int64_t pieces = std::max<int64_t>(1, v.images * blocks);
  const int64_t bands = std::clamp<int64_t>((items_wanted(c.threads()) + pieces - 1) / pieces, 1,
                                            (row.out + kLeastBand - 1) / kLeastBand);
  // An even number of rows, as the kernel takes two at a time.
  args.band_rows = round_up((row.out + bands - 1) / bands, 2);
  args.bands = (row.out + args.band_rows - 1) / args.band_rows;
  Scratch scratch;
  HASTEN_TRY(const ConvolutionOperand w,
             weights_operand(c, scratch, channels, row.kernel * col.kernel));
  HASTEN_TRY(const ConvolutionOperand bias, bias_operand(c, scratch, 1, channels));
  c.scratch(static_cast<size_t>(scratch.bytes));
  const auto visits = [](const WindowAxis& a) {
    double n = 0;
    for (int64_t o = 0; o < a.out; ++o) {
      n += static_cast<double>(window_taps(o, a.stride, 1, a.pad, a.kernel, a.in).count);
    }
    return n;
  };
  c.flops(2 * visits(row) * visits(col) * static_cast<double>(channels * v.images));
  const int64_t items = v.images * args.bands * blocks;
  const bool residual = c.has_in(3);
  c.take("conv_depthwise_rows_f32",
         [=, kernel = c.kernels().conv_depthwise_rows_f32](const StepArgs& s) {
           run_items(s, args, w, bias, residual, items, kernel);
         });
  return {};
}

}  // namespace

Status lower_depthwise(LowerContext& c, const Convolution& v, bool blocked) {
  if (blocked && rows_fit(v)) return lower_rows(c, v);
  const char* name = blocked ? "conv_depthwise_blocked_f32" : "conv_depthwise_plain_f32";
  auto plan = std::make_shared<WindowPlan>();
  const int64_t channels = v.groups, units = blocked ? blocks_of(channels) : channels;
  if (!plan_convolution(v, blocked ? kChannelBlock : 1, v.images * units, items_wanted(c.threads()),
                        blocked, plan.get())) {
    c.refuse(name, "an axis is too long");
    return {};
  }
  DepthwiseArgs args{};
  set_window(args, v, *plan);
  args.channels = channels;
  Scratch scratch;
  const int64_t taps = plan->taps, padded = round_up(channels, kChannelBlock);
  HASTEN_TRY(const ConvolutionOperand w,
             blocked ? weights_operand(c, scratch, channels, taps)
                     : ConvolutionOperand::make(c, scratch, 1, "plain", padded * taps,
                                                [=](const float* from, float* to) {
                                                  std::copy(from, from + channels * taps, to);
                                                }));
  HASTEN_TRY(const ConvolutionOperand bias, bias_operand(c, scratch, 1, channels));
  c.scratch(static_cast<size_t>(scratch.bytes));
  c.flops(2 * plan->tap_visits * static_cast<double>(channels * v.images));
  const int64_t items = v.images * args.chunk_count * units;
  const bool residual = c.has_in(3);
  const auto kernel =
      blocked ? c.kernels().conv_depthwise_blocked_f32 : c.kernels().conv_depthwise_plain_f32;
  c.take(name, [=](const StepArgs& s) {
    DepthwiseArgs a = args;
    a.rects = plan->rects.data();
    a.chunks = plan->chunks.data();
    run_items(s, a, w, bias, residual, items, kernel);
  });
  return {};
}

}  // namespace hasten
