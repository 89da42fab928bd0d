// https://onnx.ai/onnx/operators/onnx__BatchNormalization.html, opsets 7-21, floats. Training (its
// statistics of the batch) as of opset 14 and on the reference; before 14, where the number of
// outputs asks for it, it is refused, as is spatial = 0 of opsets 7 and 8.
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

constexpr const char* kOperands[] = {"X", "scale", "B", "mean", "var"};

bool trains(const OpContext& c) { return c.node().attr_int("training_mode", 0) != 0; }
float epsilon_of(const OpContext& c) { return c.node().attr_float("epsilon", 1e-5f); }

Status infer(InferContext& c) {
  if (c.node().attr_int("spatial", 1) != 1) return c.unsupported("spatial = 0");
  for (size_t i = 0; i < 5; ++i) HASTEN_CHECK(check_dtype(c, i, kFloats));
  for (size_t i = 1; i < c.outputs(); ++i) {
    if (!c.has_out(i)) continue;
    if (c.node().def->since < 14) return c.unsupported("training (output {})", i);
    if (!trains(c)) return c.invalid("output {} exists only if training_mode is 1", i);
  }
  const Facts& x = c.in(0);
  HASTEN_CHECK(infer_unary(c, kFloats));
  Shape per_channel;
  if (x.has_shape) {
    // A single axis is that of samples: one channel.
    if (x.rank() < 1) return c.invalid("X is a scalar");
    const Dim channels = x.rank() > 1 ? x.shape[1] : Dim(1);
    per_channel = {channels};
    for (size_t i = 1; i < 5; ++i) {
      const Facts& p = c.in(i);
      if (!p.has_shape) continue;
      if (p.rank() != 1) {
        return c.invalid("{} has shape {}, it must have one axis", kOperands[i],
                         shape_text(p.shape));
      }
      if (p.shape[0].known() && channels.known() && !(p.shape[0] == channels)) {
        return c.invalid("{} has {} elements, X has {} channels", kOperands[i], p.shape[0].value(),
                         channels.value());
      }
    }
  }
  for (size_t i = 1; i < c.outputs() && i < 3; ++i) {
    if (x.has_shape) {
      c.set(i, c.in(3).dtype, per_channel);
    } else {
      c.set_unknown(i, c.in(3).dtype);
    }
  }
  return {};
}

std::vector<double> doubles_of(const TensorView& t) {
  std::vector<double> out(static_cast<size_t>(t.count()));
  dispatch_float(t.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < out.size(); ++i) out[i] = Compute<T>::load(t.as<T>()[i]);
  });
  return out;
}

Status write_running(RefContext& c, size_t output, const std::vector<double>& old,
                     const std::vector<double>& now) {
  if (!c.has_out(output)) return {};
  const double momentum = c.node().attr_float("momentum", 0.9f);
  const DType dtype = c.in(3).dtype;
  HASTEN_TRY(void* memory, c.out(output, dtype, {static_cast<int64_t>(old.size())}));
  dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < old.size(); ++i) {
      static_cast<T*>(memory)[i] = convert_number<T>(old[i] * momentum + now[i] * (1 - momentum));
    }
  });
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const int64_t channels = x.dims.size() > 1 ? x.dims[1] : 1;
  const int64_t samples = x.dims[0];
  const int64_t pixels = x.dims.size() > 2 ? count_of(std::span(x.dims).subspan(2)) : 1;
  const auto scale = doubles_of(c.in(1)), shift = doubles_of(c.in(2));
  auto mean = doubles_of(c.in(3)), variance = doubles_of(c.in(4));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const double epsilon = epsilon_of(c);
  Status status;
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    // f(channel, offset)
    const auto each = [&](auto&& f) {
      for (int64_t i = 0; i < samples * channels * pixels; ++i) {
        f(static_cast<size_t>(i / pixels % channels), i);
      }
    };
    const auto value = [&](int64_t i) {
      return static_cast<double>(Compute<T>::load(x.as<T>()[i]));
    };
    if (trains(c)) {
      const auto old_mean = mean, old_variance = variance;
      const auto n = static_cast<double>(samples * pixels);
      std::fill(mean.begin(), mean.end(), 0);
      std::fill(variance.begin(), variance.end(), 0);
      each([&](size_t ch, int64_t i) { mean[ch] += value(i) / n; });
      each([&](size_t ch, int64_t i) {
        variance[ch] += (value(i) - mean[ch]) * (value(i) - mean[ch]) / n;
      });
      status = write_running(c, 1, old_mean, mean);
      if (status) status = write_running(c, 2, old_variance, variance);
    }
    each([&](size_t ch, int64_t i) {
      const double y = (value(i) - mean[ch]) / std::sqrt(variance[ch] + epsilon);
      static_cast<T*>(memory)[i] = convert_number<T>(y * scale[ch] + shift[ch]);
    });
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return status;
}

Status lower(LowerContext& c) {
  const char* name = "scale_shift_f32";
  for (size_t i = 0; i < 5; ++i) {
    if (c.in(i).dtype != DType::kF32) {
      c.refuse(name, fmt::format("no kernel for {}", dtype_name(c.in(i).dtype)));
      return {};
    }
  }
  if (trains(c)) {
    c.refuse(name, "training_mode is 1");
    return {};
  }
  const Placement x{c.in_dims(0), c.in(0).layout}, out{c.out_dims(0), c.out(0).layout};
  const int64_t channels = x.dims.size() > 1 ? x.dims[1] : 1;
  Dims per_channel(x.dims.size(), 1);
  if (x.dims.size() > 1) per_channel[1] = channels;
  const Placement operands[] = {x, {per_channel, Layout::kPlain}, {per_channel, Layout::kPlain}};
  auto planned = plan_broadcast(operands, out);
  if (!planned || x.layout != out.layout) {
    c.refuse(name, planned ? "input and output differ in layout" : planned.error().message);
    return {};
  }
  c.flops(static_cast<double>(count_of(x.dims)) * 2);
  c.in_place({0});
  c.scratch(static_cast<size_t>(channels) * 2 * sizeof(float));
  c.take(name, [plan = *planned, channels, epsilon = epsilon_of(c),
                factors = c.kernels().batch_norm_factors_f32, kernel = c.kernels().scale_shift_f32,
                zero = c.kernels().zero_padding_f32](const StepArgs& s) {
    auto* scratch = reinterpret_cast<float*>(s.scratch);
    const BatchNormArgs norm{s.input<float>(1),
                             s.input<float>(2),
                             s.input<float>(3),
                             s.input<float>(4),
                             scratch,
                             scratch + channels,
                             epsilon};
    factors(&norm, 0, channels);
    BroadcastArgs args = plan.args;
    args.in[0] = s.in[0];
    args.in[1] = norm.factor;
    args.in[2] = norm.offset;
    args.out = s.out[0];
    PaddingArgs padding = plan.padding;
    padding.x = s.output<float>(0);
    split_elements(s, plan.count, kCheapGrain, [&](int64_t begin, int64_t end) {
      kernel(&args, begin, end);
      if (padding.lanes) zero(&padding, begin / 16, end / 16);
    });
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_batch_normalization() {
  const std::vector<const char*> base = {"epsilon", "momentum"};
  return {{"",
           "BatchNormalization",
           7,
           8,
           5,
           5,
           1,
           5,
           {"epsilon", "momentum", "spatial"},
           infer,
           reference,
           lower},
          {"", "BatchNormalization", 9, 13, 5, 5, 1, 5, base, infer, reference, lower},
          {"",
           "BatchNormalization",
           14,
           kLastOpset,
           5,
           5,
           1,
           3,
           {"epsilon", "momentum", "training_mode"},
           infer,
           reference,
           lower}};
}

}  // namespace hasten
