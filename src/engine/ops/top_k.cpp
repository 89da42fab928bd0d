// https://onnx.ai/onnx/operators/onnx__TopK.html, opsets 1-21, every number. Sorted whatever
// `sorted` says; equal elements by ascending index; NaN counts as larger than any number.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status check_k(const OpContext& c, int64_t k, int64_t dim) {
  if (k < 0 || k > dim) return c.invalid("K is {}, the axis has {} elements", k, dim);
  return {};
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  if (x.dtype == DType::kString || x.dtype == DType::kBool) {
    return c.invalid("dtype {} is not among those of the operator", dtype_name(x.dtype));
  }
  const bool attribute = c.node().version < 10;
  if (attribute && c.node().find_attr("k") == nullptr) return c.invalid("attribute 'k' is missing");
  if (!attribute) {
    HASTEN_CHECK(check_int_list(c, c.in(1), "K", false));
    if (const auto n = list_length(c.in(1)); n && *n != 1) {
      return c.invalid("K is {}, it must be one element", c.in(1).text());
    }
  }
  c.set_unknown(0, x.dtype);
  c.set_unknown(1, DType::kI64);
  if (!x.has_shape) return {};
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", -1), x.rank()));
  Dim k = Dim::fresh();
  if (attribute) {
    k = Dim(c.node().attr_int("k", 0));
  } else if (const auto known = known_ints(c.in(1))) {
    k = Dim::from_code((*known)[0]);
  }
  if (k.known() && k.value() < 0) return c.invalid("K is {}, it must not be negative", k.value());
  if (k.known() && x.shape[axis].known())
    HASTEN_CHECK(check_k(c, k.value(), x.shape[axis].value()));
  Shape out = x.shape;
  out[axis] = k;
  c.set(0, x.dtype, out);
  c.set(1, DType::kI64, std::move(out));
  return {};
}

/// a before b in descending order of value.
template <class V>
bool larger(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return a > b;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const bool attribute = c.node().version < 10;
  const int64_t k = attribute ? c.node().attr_int("k", 0) : read_ints(c.in(1))[0];
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", -1), x.dims.size()));
  const int64_t n = x.dims[axis];
  HASTEN_CHECK(check_k(c, k, n));
  Dims dims = x.dims;
  dims[axis] = k;
  void *values = nullptr, *indices = nullptr;
  if (c.has_out(0)) {
    HASTEN_TRY(values, c.out(0, x.dtype, dims));
  }
  if (c.has_out(1)) {
    HASTEN_TRY(indices, c.out(1, DType::kI64, dims));
  }
  const bool largest = c.node().attr_int("largest", 1) != 0;
  const std::span<const int64_t> all(x.dims);
  const int64_t outer = count_of(all.first(axis)), inner = count_of(all.subspan(axis + 1));
  std::vector<int64_t> order(static_cast<size_t>(n));
  dispatch_number(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t line = 0; line < outer * inner; ++line) {
      const int64_t o = line / inner, i = line % inner;
      const T* in = x.as<T>() + o * n * inner + i;
      std::iota(order.begin(), order.end(), int64_t{0});
      std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(k), order.end(),
                        [&](int64_t a, int64_t b) {
                          const auto va = Compute<T>::load(in[a * inner]);
                          const auto vb = Compute<T>::load(in[b * inner]);
                          if (largest ? larger(va, vb) : larger(vb, va)) return true;
                          if (largest ? larger(vb, va) : larger(va, vb)) return false;
                          return a < b;
                        });
      for (int64_t j = 0; j < k; ++j) {
        const int64_t to = (o * k + j) * inner + i, from = order[static_cast<size_t>(j)];
        if (values) static_cast<T*>(values)[to] = in[from * inner];
        if (indices) static_cast<int64_t*>(indices)[to] = from;
      }
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_top_k() {
  OpDef v1{"", "TopK", 1, 9, 1, 1, 1, 2, {"axis", "k"}, infer, reference};
  OpDef v10{"", "TopK", 10, 10, 2, 2, 1, 2, {"axis"}, infer, reference};
  OpDef v11 = v10;
  v11.since = 11;
  v11.until = kLastOpset;
  v11.attrs = {"axis", "largest", "sorted"};
  return {v1, v10, v11};
}

}  // namespace hasten
