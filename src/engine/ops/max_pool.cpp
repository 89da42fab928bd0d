// https://onnx.ai/onnx/operators/onnx__MaxPool.html, opsets 1-21, f32 f64 f16 bf16 i8 u8, any
// number of spatial axes, indices of the maxima as second output.
#include <limits>

#include "engine/ops/op.h"
#include "engine/ops/pool.h"

namespace hasten {

namespace {

bool allowed(DType t) { return is_float(t) || t == DType::kI8 || t == DType::kU8; }

Status infer(InferContext& c) { return infer_pool(c, allowed); }

template <class T>
typename Compute<T>::type least() {
  using C = typename Compute<T>::type;
  if constexpr (std::numeric_limits<C>::has_infinity) return -std::numeric_limits<C>::infinity();
  return std::numeric_limits<C>::lowest();
}

/// The index of an element of a plane in the storage order that the attribute asks for.
int64_t column_major(const std::vector<WindowAxis>& axes, int64_t index) {
  Dims at(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    at[i] = index % axes[i].in;
    index /= axes[i].in;
  }
  int64_t out = 0;
  for (size_t i = axes.size(); i-- > 0;) out = out * axes[i].in + at[i];
  return out;
}

template <class T>
void run(const T* x, const std::vector<WindowAxis>& axes, const Dims& out, bool by_column, T* y,
         int64_t* indices) {
  using C = typename Compute<T>::type;
  int64_t in_pixels = 1;
  for (const WindowAxis& a : axes) in_pixels *= a.in;
  const int64_t out_pixels = count_of(std::span(out).subspan(2));
  for_each_window(out, [&](int64_t plane, int64_t pixel, const Dims& at) {
    const T* from = x + plane * in_pixels;
    C best = least<T>();
    int64_t best_at = -1;
    for_each_tap(axes, at, [&](int64_t index) {
      const C value = Compute<T>::load(from[index]);
      // The first of equals; a NaN is a window's maximum.
      const bool is_nan = value != value, had_nan = best != best;
      if (best_at < 0 || value > best || (is_nan && !had_nan)) {
        best = value;
        best_at = index;
      }
    });
    y[plane * out_pixels + pixel] = Compute<T>::store(best);
    if (indices != nullptr) {
      const int64_t place = by_column && best_at >= 0 ? column_major(axes, best_at) : best_at;
      indices[plane * out_pixels + pixel] = best_at < 0 ? -1 : plane * in_pixels + place;
    }
  });
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const std::vector<WindowAxis> axes, pool_axes(c, x.dims));
  const Dims out = pool_dims(x.dims, axes);
  HASTEN_TRY(void* y, c.out(0, x.dtype, out));
  int64_t* indices = nullptr;
  if (c.has_out(1)) {
    HASTEN_TRY(void* memory, c.out(1, DType::kI64, out));
    indices = static_cast<int64_t*>(memory);
  }
  const bool by_column = c.node().attr_int("storage_order", 0) != 0;
  const bool known = dispatch_number(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    run<T>(x.as<T>(), axes, out, by_column, static_cast<T*>(y), indices);
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

Status lower(LowerContext& c) {
  const KernelTable& k = c.kernels();
  if (c.has_out(1)) {
    c.refuse("max_pool_f32", "indices are wanted");
    return {};
  }
  switch (c.in(0).dtype) {
    case DType::kF32:
      if (c.in(0).layout == Layout::kNchw16c) {
        return lower_pool(c, "max_pool_blocked_f32", k.max_pool_blocked_f32, false);
      }
      return lower_pool(c, "max_pool_f32", k.max_pool_f32, false);
    case DType::kI8:
      return lower_pool(c, "max_pool_i8", k.max_pool_i8, false);
    case DType::kU8:
      return lower_pool(c, "max_pool_u8", k.max_pool_u8, false);
    default:
      c.refuse("max_pool_f32", "neither float nor an 8-bit integer");
      return {};
  }
}

}  // namespace

std::vector<OpDef> ops_max_pool() {
  std::vector<const char*> attrs = {"auto_pad", "kernel_shape", "pads", "strides"};
  OpDef first{"", "MaxPool", 1, 7, 1, 1, 1, 1, attrs, infer, reference, lower};
  OpDef with_indices = first;
  with_indices.since = 8;
  with_indices.until = 9;
  with_indices.max_outputs = 2;
  with_indices.attrs.push_back("storage_order");
  OpDef now = with_indices;
  now.since = 10;
  now.until = kLastOpset;
  now.attrs.insert(now.attrs.end(), {"ceil_mode", "dilations"});
  return {first, with_indices, now};
}

}  // namespace hasten
