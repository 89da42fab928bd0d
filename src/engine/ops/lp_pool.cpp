// https://onnx.ai/onnx/operators/onnx__LpPool.html, opsets 2-21, and GlobalLpPool, opsets 2-21; f32
// f64 f16 bf16, any number of spatial axes. Only the reference: no model of ours has them hot.
#include "engine/ops/op.h"
#include "engine/ops/pool.h"

namespace hasten {

namespace {

Result<int64_t> read_p(const OpContext& c) {
  const int64_t p = c.node().attr_int("p", 2);
  if (p < 1) return c.invalid("p is {}, it must be at least 1", p);
  return p;
}

Status infer(InferContext& c) {
  HASTEN_CHECK(read_p(c));
  return infer_pool(c, is_float);
}

Status infer_global(InferContext& c) {
  HASTEN_CHECK(read_p(c));
  const Facts& x = c.in(0);
  if (x.dtype != DType::kNone && !is_float(x.dtype)) {
    return c.invalid("input has dtype {}, a float is needed", dtype_name(x.dtype));
  }
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  if (x.rank() < 3) return c.invalid("input is {}, at least 3 dimensions are needed", x.text());
  Shape out(x.rank(), Dim(1));
  out[0] = x.shape[0];
  out[1] = x.shape[1];
  c.set(0, x.dtype, std::move(out));
  return {};
}

Status pool(RefContext& c, const std::vector<WindowAxis>& axes) {
  const TensorView& x = c.in(0);
  const Dims out = pool_dims(x.dims, axes);
  HASTEN_TRY(const int64_t p, read_p(c));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, out));
  const int64_t in_pixels = count_of(std::span(x.dims).subspan(2));
  const int64_t out_pixels = count_of(std::span(out).subspan(2));
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = typename Compute<T>::type;
    for_each_window(out, [&](int64_t plane, int64_t pixel, const Dims& at) {
      double sum = 0;
      for_each_tap(axes, at, [&](int64_t index) {
        const auto v = static_cast<double>(Compute<T>::load(x.as<T>()[plane * in_pixels + index]));
        sum += std::pow(std::abs(v), static_cast<double>(p));
      });
      static_cast<T*>(memory)[plane * out_pixels + pixel] =
          Compute<T>::store(static_cast<C>(std::pow(sum, 1 / static_cast<double>(p))));
    });
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(const std::vector<WindowAxis> axes, pool_axes(c, c.in(0).dims));
  return pool(c, axes);
}

Status reference_global(RefContext& c) {
  std::vector<WindowAxis> axes(c.in(0).dims.size() - 2);
  for (size_t i = 0; i < axes.size(); ++i) axes[i].in = axes[i].kernel = c.in(0).dims[i + 2];
  return pool(c, axes);
}

}  // namespace

std::vector<OpDef> ops_lp_pool() {
  OpDef first{
      "",    "LpPool", 2, 17, 1, 1, 1, 1, {"auto_pad", "kernel_shape", "p", "pads", "strides"},
      infer, reference};
  OpDef now = first;
  now.since = 18;
  now.until = kLastOpset;
  now.attrs.insert(now.attrs.end(), {"ceil_mode", "dilations"});
  return {first,
          now,
          {"", "GlobalLpPool", 2, kLastOpset, 1, 1, 1, 1, {"p"}, infer_global, reference_global}};
}

}  // namespace hasten
