// https://onnx.ai/onnx/operators/onnx__ArgMax.html and onnx__ArgMin.html, opsets 1-21, every
// number. The first of equal elements (or the last: select_last_index); a NaN beats every number.
#include <cmath>

#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  if (x.dtype == DType::kString || x.dtype == DType::kBool) {
    return c.invalid("dtype {} is not among those of the operator", dtype_name(x.dtype));
  }
  c.set_unknown(0, DType::kI64);
  if (!x.has_shape) return {};
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.rank()));
  if (x.shape[axis] == Dim(0)) return c.invalid("axis {} of {} has no elements", axis, x.text());
  Shape out = x.shape;
  if (c.node().attr_int("keepdims", 1) != 0) {
    out[axis] = Dim(1);
  } else {
    out.erase(out.begin() + static_cast<ptrdiff_t>(axis));
  }
  c.set(0, DType::kI64, std::move(out));
  return {};
}

/// Does `next` take the place of `best`?
template <bool kMax, class V>
bool beats(V next, V best, bool or_equal) {
  if constexpr (std::is_floating_point_v<V>) {
    if (std::isnan(best)) return or_equal && std::isnan(next);
    if (std::isnan(next)) return true;
  }
  if (next == best) return or_equal;
  return kMax ? next > best : next < best;
}

template <bool kMax>
Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.dims.size()));
  Dims dims = x.dims;
  if (c.node().attr_int("keepdims", 1) != 0) {
    dims[axis] = 1;
  } else {
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  }
  HASTEN_TRY(void* memory, c.out(0, DType::kI64, dims));
  const bool last = c.node().attr_int("select_last_index", 0) != 0;
  const std::span<const int64_t> all(x.dims);
  const int64_t n = all[axis], inner = count_of(all.subspan(axis + 1));
  const int64_t lines = count_of(all.first(axis)) * inner;
  dispatch_number(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t line = 0; line < lines; ++line) {
      const T* in = x.as<T>() + line / inner * n * inner + line % inner;
      int64_t best = 0;
      for (int64_t i = 1; i < n; ++i) {
        if (beats<kMax>(Compute<T>::load(in[i * inner]), Compute<T>::load(in[best * inner]),
                        last)) {
          best = i;
        }
      }
      static_cast<int64_t*>(memory)[line] = best;
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_arg_max() {
  OpDef max{"", "ArgMax", 1, 11, 1, 1, 1, 1, {"axis", "keepdims"}, infer, reference<true>};
  OpDef max12 = max;
  max12.since = 12;
  max12.until = kLastOpset;
  max12.attrs = {"axis", "keepdims", "select_last_index"};
  OpDef min = max, min12 = max12;
  min.name = min12.name = "ArgMin";
  min.reference = min12.reference = reference<false>;
  return {max, max12, min, min12};
}

}  // namespace hasten
