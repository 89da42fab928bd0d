// https://onnx.ai/onnx/operators/onnx__OneHot.html, opsets 9-21: indices and depth of every number,
// values of every dtype. Indices outside the depth give "off" throughout; negative ones count from
// the end since opset 11.
#include <cmath>

#include "engine/ops/moves.h"
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

/// Element i as an integer, fractions cut off; nullopt for what fits no int64.
std::optional<int64_t> integer_at(const TensorView& t, int64_t i) {
  std::optional<int64_t> out;
  dispatch_number(t.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      const T x = t.as<T>()[i];
      if (std::in_range<int64_t>(x)) out = static_cast<int64_t>(x);
    } else {
      const auto x = std::trunc(static_cast<double>(Compute<T>::load(t.as<T>()[i])));
      if (x >= -0x1p63 && x < 0x1p63) out = static_cast<int64_t>(x);
    }
  });
  return out;
}

Result<int64_t> depth_of(const OpContext& c, const TensorView& depth) {
  const std::optional<int64_t> n = integer_at(depth, 0);
  if (!n || *n < 0) return c.invalid("depth is {}, it must not be negative", n.value_or(-1));
  return *n;
}

Status infer(InferContext& c) {
  const Facts &indices = c.in(0), &depth = c.in(1), &values = c.in(2);
  for (size_t i = 0; i < 2; ++i) {
    const DType t = c.in(i).dtype;
    if (t != DType::kNone && !is_int(t) && !is_float(t)) {
      return c.invalid("{} has dtype {}, it must be a number", i == 0 ? "indices" : "depth",
                       dtype_name(t));
    }
  }
  if (depth.known_shape() && count_of(to_dims(depth.shape)) != 1) {
    return c.invalid("depth has the shape {}, it must be one element", shape_text(depth.shape));
  }
  if (values.known_shape() && (values.rank() != 1 || values.shape[0] != Dim(2))) {
    return c.invalid("values have the shape {}, it must be [2]", shape_text(values.shape));
  }
  c.set_unknown(0, values.dtype);
  if (!indices.has_shape) return {};
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", -1), indices.rank() + 1));
  Dim count = Dim::fresh();
  if (depth.known_value()) {
    const bool symbol =
        depth.dtype == DType::kI64 && Dim::is_symbol_code(*depth.value.as<int64_t>());
    if (symbol) {
      count = Dim::from_code(*depth.value.as<int64_t>());
    } else {
      HASTEN_TRY(const int64_t n, depth_of(c, depth.value.view()));
      count = Dim(n);
    }
  }
  Shape out = indices.shape;
  out.insert(out.begin() + static_cast<ptrdiff_t>(axis), count);
  c.set(0, values.dtype, std::move(out));
  return {};
}

Status reference(RefContext& c) {
  const TensorView &indices = c.in(0), &values = c.in(2);
  HASTEN_TRY(const int64_t depth, depth_of(c, c.in(1)));
  HASTEN_TRY(const size_t axis,
             resolve_axis(c, c.node().attr_int("axis", -1), indices.dims.size() + 1));
  Dims dims = indices.dims;
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), depth);
  HASTEN_TRY(void* memory, c.out(0, values.dtype, dims));
  const std::span<const int64_t> all(dims);
  const int64_t outer = count_of(all.first(axis)), inner = count_of(all.subspan(axis + 1));
  const bool from_end = c.node().version >= 11;
  dispatch_bits(values.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(memory);
    for (int64_t i = 0; i < count_of(dims); ++i) out[i] = values.as<T>()[0];
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < inner; ++k) {
        int64_t at = integer_at(indices, o * inner + k).value_or(depth);
        if (at < 0 && from_end && at >= -depth) at += depth;
        if (at >= 0 && at < depth) out[(o * depth + at) * inner + k] = values.as<T>()[1];
      }
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_one_hot() {
  return {{"", "OneHot", 9, kLastOpset, 3, 3, 1, 1, {"axis"}, infer, reference}};
}

}  // namespace hasten
