// https://onnx.ai/onnx/operators/onnx__LRN.html, opsets 1-21, floats.
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

struct Params {
  float alpha, beta, bias;
  int64_t size, before, after;  // channels of a sum; those before and after its own
};
Params params_of(const OpContext& c) {
  Params p{};
  p.alpha = c.node().attr_float("alpha", 1e-4f);
  p.beta = c.node().attr_float("beta", 0.75f);
  p.bias = c.node().attr_float("bias", 1.0f);
  p.size = c.node().attr_int("size", 0);
  // infer() refuses sizes below 1.
  const int64_t others = std::max<int64_t>(p.size, 1) - 1;
  p.before = others / 2;
  p.after = others - p.before;
  return p;
}

Status infer(InferContext& c) {
  const Params p = params_of(c);
  if (p.size < 1) return c.invalid("size is {}, it must be at least 1", p.size);
  if (c.in(0).has_shape && c.in(0).rank() < 2) {
    return c.invalid("X has rank {}, it must be at least 2", c.in(0).rank());
  }
  return infer_unary(c, kFloats);
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const Params p = params_of(c);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const int64_t channels = x.dims[1], pixels = count_of(std::span(x.dims).subspan(2));
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto at = [&](int64_t i) { return static_cast<double>(Compute<T>::load(x.as<T>()[i])); };
    for (int64_t i = 0; i < x.count(); ++i) {
      const int64_t channel = i / pixels % channels, first = i - channel * pixels;
      const int64_t from = channel - std::min(p.before, channel);
      const int64_t to = channel + std::min(p.after, channels - 1 - channel);
      double sum = 0;
      for (int64_t k = from; k <= to; ++k) sum += at(first + k * pixels) * at(first + k * pixels);
      const double y =
          at(i) / std::pow(p.bias + p.alpha / static_cast<double>(p.size) * sum, p.beta);
      static_cast<T*>(memory)[i] = convert_number<T>(y);
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

Status lower(LowerContext& c) {
  const char* name = "lrn_f32";
  if (!plain_f32(c, name)) return {};
  const Params p = params_of(c);
  // The power is an exponential of a logarithm.
  if (!(p.alpha >= 0 && p.bias > 0 && std::abs(p.beta) > 0 && std::abs(p.beta) <= 8)) {
    c.refuse(name, fmt::format("alpha {}, beta {}, bias {}", p.alpha, p.beta, p.bias));
    return {};
  }
  const Dims dims = c.in_dims(0);
  const int64_t channels = dims[1], pixels = count_of(std::span(dims).subspan(2));
  const int64_t items = channels == 0 ? 0 : dims[0] * ((pixels + 15) / 16);
  c.flops(static_cast<double>(count_of(dims)) *
          (2 * static_cast<double>(std::min(p.size, channels)) + 30));
  const int64_t grain = std::max<int64_t>(kCostlyGrain / std::max<int64_t>(channels * 16, 1), 1);
  const float alpha = static_cast<float>(p.alpha / static_cast<double>(p.size));
  c.take(name, [=, kernel = c.kernels().lrn_f32](const StepArgs& s) {
    const LrnArgs args{s.input<float>(0),
                       s.output<float>(0),
                       channels,
                       pixels,
                       p.before,
                       p.after,
                       alpha,
                       p.beta,
                       p.bias};
    s.parallel(items, grain, [&](int64_t begin, int64_t end) { kernel(&args, begin, end); });
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_lrn() {
  return {{"",
           "LRN",
           1,
           kLastOpset,
           1,
           1,
           1,
           1,
           {"alpha", "beta", "bias", "size"},
           infer,
           reference,
           lower}};
}

}  // namespace hasten
