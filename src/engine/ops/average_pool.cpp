// https://onnx.ai/onnx/operators/onnx__AveragePool.html, opsets 1-21, f32 f64 f16 bf16, any number
// of spatial axes.
#include "engine/ops/op.h"
#include "engine/ops/pool.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_pool(c, is_float); }

bool count_padding(const OpContext& c) { return c.node().attr_int("count_include_pad", 0) != 0; }

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const std::vector<WindowAxis> axes, pool_axes(c, x.dims));
  const Dims out = pool_dims(x.dims, axes);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, out));
  const int64_t in_pixels = count_of(std::span(x.dims).subspan(2));
  const int64_t out_pixels = count_of(std::span(out).subspan(2));
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = typename Compute<T>::type;
    auto* y = static_cast<T*>(memory);
    for_each_window(out, [&](int64_t plane, int64_t pixel, const Dims& at) {
      C sum = 0;
      int64_t count = 0;
      for_each_tap(axes, at, [&](int64_t index) {
        sum += Compute<T>::load(x.as<T>()[plane * in_pixels + index]);
        ++count;
      });
      if (count_padding(c)) count = counted_taps(axes, at);
      y[plane * out_pixels + pixel] = Compute<T>::store(sum / static_cast<C>(count));
    });
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

Status lower(LowerContext& c) {
  if (c.in(0).dtype != DType::kF32) {
    c.refuse("average_pool_f32", "not float");
    return {};
  }
  if (c.in(0).layout == Layout::kNchw16c) {
    return lower_pool(c, "average_pool_blocked_f32", c.kernels().average_pool_blocked_f32,
                      count_padding(c));
  }
  return lower_pool(c, "average_pool_f32", c.kernels().average_pool_f32, count_padding(c));
}

}  // namespace

std::vector<OpDef> ops_average_pool() {
  OpDef first{"",
              "AveragePool",
              7,
              9,
              1,
              1,
              1,
              1,
              {"auto_pad", "count_include_pad", "kernel_shape", "pads", "strides"},
              infer,
              reference,
              lower};
  OpDef with_ceil = first;
  with_ceil.since = 10;
  with_ceil.until = 18;
  with_ceil.attrs.push_back("ceil_mode");
  OpDef now = with_ceil;
  now.since = 19;
  now.until = kLastOpset;
  now.attrs.push_back("dilations");
  return {first, with_ceil, now};
}

}  // namespace hasten
