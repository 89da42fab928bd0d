#include "engine/ops/integer_convolution.h"

#include <memory>

#include "engine/ops/convolution_reference.h"
#include "engine/ops/integer_product.h"
#include "engine/ops/scratch.h"

namespace hasten {

namespace {

Status check_type(const InferContext& c, size_t i, const char* name, DType dtype) {
  const DType got = c.in(i).dtype;
  if (!c.has_in(i) || got == DType::kNone || dtype == DType::kNone || got == dtype) return {};
  return c.invalid("{} has dtype {}, it must be {}", name, dtype_name(got), dtype_name(dtype));
}

/// One number, or one for each output channel.
Status check_channels(const InferContext& c, size_t i, const char* name, const Facts& w) {
  if (!c.has_in(i) || may_be_scalar(c.in(i))) return {};
  const Facts& f = c.in(i);
  if (f.rank() == 1 && (!w.has_shape || w.rank() == 0 || !w.shape[0].known() ||
                        !f.shape[0].known() || f.shape[0] == w.shape[0])) {
    return {};
  }
  return c.invalid("{} is {}: neither one number nor one for each output channel of {}", name,
                   f.text(), w.text());
}

int64_t round_up(int64_t n) { return (n + kChannelBlock - 1) / kChannelBlock * kChannelBlock; }

/// Weights less their zero points in the form that the kernels want; see IntegerConvArgs.
struct Weights {
  Convolution v;
  int64_t taps;
  bool depthwise, is_signed, by_channel;  // by_channel: a zero point for each output channel

  int64_t pairs() const { return (v.group_in + 1) / 2; }
  int64_t count() const {
    return depthwise ? taps * round_up(v.groups)
                     : v.groups * round_up(v.group_out) * taps * pairs() * 2;
  }
  /// `to` is zero before.
  void pack(const void* w, const void* zero, int16_t* to) const {
    for (int64_t group = 0; group < v.groups; ++group) {
      for (int64_t out = 0; out < v.group_out; ++out) {
        const int64_t channel = group * v.group_out + out;
        const int32_t z = zero ? byte_at(zero, is_signed, by_channel ? channel : 0) : 0;
        for (int64_t in = 0; in < v.group_in; ++in) {
          for (int64_t tap = 0; tap < taps; ++tap) {
            const int32_t value =
                byte_at(w, is_signed, weight_index(v, taps, group, out, in, tap)) - z;
            to[place(group, out, in, tap)] = static_cast<int16_t>(value);
          }
        }
      }
    }
  }

 private:
  int64_t place(int64_t group, int64_t out, int64_t in, int64_t tap) const {
    if (depthwise) return tap * round_up(v.groups) + group;
    const int64_t block = group * (round_up(v.group_out) / 16) + out / 16;
    return ((block * taps + tap) * pairs() + in / 2) * 32 + out % 16 * 2 + in % 2;
  }
};

/// The zero points as text, so that weights that two nodes share are packed for each.
std::string zero_text(const Tensor* zero) {
  std::string text;
  if (zero == nullptr) return text;
  const auto* bytes = static_cast<const uint8_t*>(zero->data());
  const int64_t n = zero->count();
  if (std::all_of(bytes, bytes + n, [&](uint8_t b) { return b == bytes[0]; })) {
    return n > 0 && bytes[0] != 0 ? fmt::format("{}", bytes[0]) : text;
  }
  for (int64_t i = 0; i < n; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

}  // namespace

Status infer_integer_convolution(InferContext& c, const IntegerConvInputs& in, DType dtype) {
  const Facts &x = c.in(in.x), &w = c.in(in.w);
  HASTEN_CHECK(check_dtype(c, in.x, kBytes));
  HASTEN_CHECK(check_dtype(c, in.w, kBytes));
  HASTEN_CHECK(check_type(c, in.x_zero, "the input's zero point", x.dtype));
  HASTEN_CHECK(check_type(c, in.w_zero, "the weight's zero point", w.dtype));
  HASTEN_CHECK(check_type(c, in.bias, "the bias", DType::kI32));
  HASTEN_CHECK(check_scalar(c, in.x_zero, "the input's zero point"));
  HASTEN_CHECK(check_scalar(c, in.x_scale, "the input's scale"));
  HASTEN_CHECK(check_scalar(c, in.y_zero, "the output's zero point"));
  HASTEN_CHECK(check_scalar(c, in.y_scale, "the output's scale"));
  HASTEN_CHECK(check_channels(c, in.w_zero, "the weight's zero point", w));
  HASTEN_CHECK(check_channels(c, in.w_scale, "the weight's scale", w));
  return infer_convolution(c, {in.x, in.w, in.bias}, dtype);
}

Status reference_integer_convolution(RefContext& c, const IntegerConvInputs& in, DType dtype) {
  const TensorView &x = c.in(in.x), &w = c.in(in.w), &x_zero = c.in(in.x_zero),
                   &w_zero = c.in(in.w_zero), &w_scale = c.in(in.w_scale), &bias = c.in(in.bias);
  HASTEN_TRY(const Dims dims, convolution_shape(c, x.dims, w.dims));
  HASTEN_TRY(const Convolution v, read_convolution(c, x.dims, w.dims, dims));
  HASTEN_TRY(void* y, c.out(0, dtype, dims));
  const bool x_signed = x.dtype == DType::kI8, w_signed = w.dtype == DType::kI8;
  const int32_t zx = x_zero.data ? byte_at(x_zero.data, x_signed, 0) : 0;
  const int64_t weights = count_of(w.dims) / std::max<int64_t>(1, w.dims[0]);  // of a channel
  const bool zeros = w_zero.data && w_zero.count() > 1;
  reference_windows<uint32_t>(
      v,
      [&](uint32_t sum, int64_t from, int64_t weight) {
        const int32_t zw =
            w_zero.data ? byte_at(w_zero.data, w_signed, zeros ? weight / weights : 0) : 0;
        return sum + static_cast<uint32_t>((byte_at(x.data, x_signed, from) - zx) *
                                           (byte_at(w.data, w_signed, weight) - zw));
      },
      [&](int64_t to, int64_t channel, uint32_t sum) {
        if (bias.data) sum += static_cast<uint32_t>(bias.as<int32_t>()[channel]);
        const auto total = static_cast<int32_t>(sum);
        if (dtype == DType::kI32) {
          static_cast<int32_t*>(y)[to] = total;
          return;
        }
        const float factor = *c.in(in.x_scale).as<float>() *
                             w_scale.as<float>()[w_scale.count() > 1 ? channel : 0] /
                             *c.in(in.y_scale).as<float>();
        static_cast<uint8_t*>(y)[to] = static_cast<uint8_t>(requantize_number(
            total, factor, byte_at(c.in(in.y_zero).data, dtype == DType::kI8, 0), dtype));
      });
  return {};
}

Status lower_integer_convolution(LowerContext& c, const IntegerConvInputs& in) {
  HASTEN_TRY(const Convolution v,
             read_convolution(c, c.in_dims(in.x), c.in_dims(in.w), c.out_dims(0)));
  const bool depthwise = v.groups > 1 && v.group_in == 1 && v.group_out == 1;
  const char* name = depthwise ? "conv_depthwise_s32" : "conv_s32";
  if (v.axes.size() > 3) {
    c.refuse(name, "more than three spatial axes");
    return {};
  }
  const int64_t blocks = round_up(v.group_out) / 16;
  const int64_t parts = depthwise ? 1 : (blocks + kItemPanels - 1) / kItemPanels;
  const int64_t units = depthwise ? round_up(v.groups) / 16 : v.groups * parts;
  auto plan = std::make_shared<WindowPlan>();
  if (!plan_convolution(v, depthwise ? kChannelBlock : v.group_in, v.images * units,
                        items_wanted(c.threads()), true, plan.get())) {
    c.refuse(name, "an axis is too long");
    return {};
  }
  const bool requantized = c.out(0).dtype != DType::kI32;
  const bool x_signed = c.in(in.x).dtype == DType::kI8;
  const bool by_channel = c.has_in(in.w_zero) && count_of(c.in_dims(in.w_zero)) > 1;
  const Weights weights{v, plan->taps, depthwise, c.in(in.w).dtype == DType::kI8, by_channel};
  IntegerConvArgs args{};
  args.y_dtype = static_cast<int>(c.out(0).dtype);
  args.chunk_count = plan->chunk_count();
  args.steps = plan->steps;
  args.taps = plan->taps;
  args.groups = v.groups;
  args.group_out = v.group_out;
  args.pairs = weights.pairs();
  args.in_pixels = plan->in_pixels;
  args.out_pixels = plan->out_pixels;
  if (c.constant(in.w) && (!c.has_in(in.w_zero) || c.constant(in.w_zero))) {
    const Tensor* zero = c.constant(in.w_zero);
    HASTEN_TRY(const void* packed,
               c.packed(in.w,
                        fmt::format("conv_pairs{}/{}/{}", depthwise ? "_depthwise" : "", v.groups,
                                    zero_text(zero)),
                        static_cast<size_t>(weights.count()) * sizeof(int16_t), [&](void* to) {
                          weights.pack(c.constant(in.w)->data(), zero ? zero->data() : nullptr,
                                       static_cast<int16_t*>(to));
                        }));
    args.w = static_cast<const int16_t*>(packed);
  }
  CenterPixelsArgs center{};
  center.is_signed = x_signed;
  center.groups = depthwise ? 1 : v.groups;
  center.group_in = depthwise ? v.groups : v.group_in;
  center.pairs = depthwise ? round_up(v.groups) / 2 : args.pairs;
  center.pixels = plan->in_pixels;
  const int64_t channels = v.groups * v.group_out;
  const int64_t padded = depthwise ? round_up(v.groups) : v.groups * blocks * 16;
  Scratch scratch;
  const int64_t x_at =
      scratch.take<int16_t>(v.images * center.pixels * center.groups * center.pairs * 2);
  const int64_t w_at = args.w ? 0 : scratch.take<int16_t>(weights.count());
  const int64_t bias_at = scratch.take<int32_t>(padded), factor_at = scratch.floats(padded);
  const int64_t center_items = v.images * ((center.pixels + kCenterPixels - 1) / kCenterPixels);
  const int64_t items = v.images * args.chunk_count * units;
  const bool scales = requantized && count_of(c.in_dims(in.w_scale)) > 1;
  c.scratch(static_cast<size_t>(scratch.bytes));
  c.flops(2 * plan->tap_visits *
          static_cast<double>(v.images * v.groups * v.group_in * v.group_out));
  c.take(name, [=, x_has_zero = c.has_in(in.x_zero), w_has_zero = c.has_in(in.w_zero),
                has_bias = c.has_in(in.bias), y_signed = c.out(0).dtype == DType::kI8,
                to_pixels = c.kernels().center_pixels,
                kernel = depthwise ? c.kernels().conv_depthwise_s32
                                   : c.kernels().conv_s32](const StepArgs& s) {
    IntegerConvArgs a = args;
    a.rects = plan->rects.data();
    a.chunks = plan->chunks.data();
    CenterPixelsArgs p = center;
    p.x = s.in[in.x];
    p.zero = x_has_zero ? byte_at(s.in[in.x_zero], x_signed, 0) : 0;
    p.out = reinterpret_cast<int16_t*>(s.scratch + x_at);
    s.parallel(center_items, 4, [&](int64_t begin, int64_t end) { to_pixels(&p, begin, end); });
    a.x = p.out;
    if (a.w == nullptr) {
      auto* w = reinterpret_cast<int16_t*>(s.scratch + w_at);
      std::fill(w, w + weights.count(), int16_t{0});
      weights.pack(s.in[in.w], w_has_zero ? s.in[in.w_zero] : nullptr, w);
      a.w = w;
    }
    const auto place = [&](int64_t channel) {
      return depthwise ? channel : channel / v.group_out * blocks * 16 + channel % v.group_out;
    };
    if (has_bias) {
      auto* bias = reinterpret_cast<int32_t*>(s.scratch + bias_at);
      std::fill(bias, bias + padded, 0);
      for (int64_t i = 0; i < channels; ++i) bias[place(i)] = s.input<int32_t>(in.bias)[i];
      a.bias = bias;
    }
    if (requantized) {
      auto* factor = reinterpret_cast<float*>(s.scratch + factor_at);
      std::fill(factor, factor + padded, 0.0f);
      for (int64_t i = 0; i < channels; ++i) {
        factor[place(i)] = *s.input<float>(in.x_scale) *
                           s.input<float>(in.w_scale)[scales ? i : 0] / *s.input<float>(in.y_scale);
      }
      a.factor = factor;
      a.y_zero = byte_at(s.in[in.y_zero], y_signed, 0);
    }
    a.y = s.out[0];
    s.parallel(items, 1, [&](int64_t begin, int64_t end) { kernel(&a, begin, end); });
  });
  return {};
}

}  // namespace hasten
