// https://onnx.ai/onnx/operators/onnx__CumSum.html, opsets 11-21: f32, f64, f16, bf16, i32, i64,
// u32, u64. Summed in order in the dtype (16-bit floats: in f32, each sum rounded); integers wrap
// around.
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

bool can_sum(DType t) {
  return is_float(t) || t == DType::kI32 || t == DType::kI64 || t == DType::kU32 ||
         t == DType::kU64;
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &axis = c.in(1);
  if (x.dtype != DType::kNone && !can_sum(x.dtype)) {
    return c.invalid("dtype {} is not among those of the operator", dtype_name(x.dtype));
  }
  HASTEN_CHECK(check_int_operand(c, axis, "axis"));
  if (axis.known_shape() && count_of(to_dims(axis.shape)) != 1) {
    return c.invalid("axis has the shape {}, it must be one element", shape_text(axis.shape));
  }
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  if (const auto known = known_ints(axis)) {
    HASTEN_CHECK(resolve_axis(c, (*known)[0], x.rank()));
  }
  c.set(0, x.dtype, x.shape);
  return {};
}

/// One line of n elements that lie `stride` apart.
template <class T>
void sum_line(const T* in, T* out, int64_t n, int64_t stride, bool exclusive, bool reverse) {
  T sum = Compute<T>::store(typename Compute<T>::type(0));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = (reverse ? n - 1 - i : i) * stride;
    T next;
    if constexpr (std::is_integral_v<T>) {
      next = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(in[at]));
    } else {
      next = Compute<T>::store(Compute<T>::load(sum) + Compute<T>::load(in[at]));
    }
    out[at] = exclusive ? sum : next;
    sum = next;
  }
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const size_t axis, resolve_axis(c, read_ints(c.in(1))[0], x.dims.size()));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const std::span<const int64_t> dims(x.dims);
  const int64_t outer = count_of(dims.first(axis)), n = dims[axis];
  const int64_t inner = count_of(dims.subspan(axis + 1));
  const bool exclusive = c.node().attr_int("exclusive", 0) != 0;
  const bool reverse = c.node().attr_int("reverse", 0) != 0;
  dispatch_number(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t start = o * n * inner + i;
        sum_line<T>(x.as<T>() + start, static_cast<T*>(memory) + start, n, inner, exclusive,
                    reverse);
      }
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_cum_sum() {
  return {{"", "CumSum", 11, kLastOpset, 2, 2, 1, 1, {"exclusive", "reverse"}, infer, reference}};
}

}  // namespace hasten
