// https://onnx.ai/onnx/operators/onnx__NonZero.html, opsets 9-21, every dtype. How many columns
// the output has depends on the elements. A string that is not empty counts.
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  const Dim rank = x.has_shape ? Dim(static_cast<int64_t>(x.rank())) : Dim::fresh();
  c.set(0, DType::kI64, {rank, Dim::fresh()});
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  std::vector<int64_t> found;
  dispatch_any(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.count(); ++i) {
      bool zero_here = false;  // NaN counts
      if constexpr (std::is_same_v<T, std::string>) {
        zero_here = x.as<T>()[i].empty();
      } else {
        zero_here = Compute<T>::load(x.as<T>()[i]) == 0;
      }
      if (!zero_here) found.push_back(i);
    }
  });
  const auto rank = static_cast<int64_t>(x.dims.size()), n = static_cast<int64_t>(found.size());
  HASTEN_TRY(void* memory, c.out(0, DType::kI64, {rank, n}));
  auto* out = static_cast<int64_t*>(memory);
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = found[static_cast<size_t>(i)];
    for (int64_t d = rank; d-- > 0;) {
      const int64_t dim = x.dims[static_cast<size_t>(d)];
      out[d * n + i] = rest % dim;
      rest /= dim;
    }
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_non_zero() {
  return {{"", "NonZero", 9, kLastOpset, 1, 1, 1, 1, {}, infer, reference}};
}

}  // namespace hasten
