// https://onnx.ai/onnx/operators/onnx__MeanVarianceNormalization.html, opsets 9-21, floats. As its
// function body has it: 1e-9 is added to the deviation, and an empty list of axes means all.
#include <cmath>
#include <numeric>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Result<std::vector<size_t>> axes_of(const OpContext& c, size_t rank) {
  const std::vector<int64_t> axes = c.node().attr_ints("axes", {0, 2, 3});
  if (!axes.empty()) return resolve_axes(c, axes, rank);
  std::vector<size_t> all(rank);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

Status infer(InferContext& c) {
  if (c.in(0).has_shape) HASTEN_CHECK(axes_of(c, c.in(0).rank()));
  return infer_unary(c, kFloats);
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const std::vector<size_t> axes, axes_of(c, x.dims.size()));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  Dims kept = x.dims;
  for (const size_t axis : axes) kept[axis] = 1;
  const Dims strides = broadcast_strides(kept, x.dims);
  const int64_t groups = x.count() == 0 ? 0 : count_of(kept);
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto at = [&](int64_t i) { return static_cast<double>(Compute<T>::load(x.as<T>()[i])); };
    std::vector<double> means(static_cast<size_t>(groups)), variances(means.size());
    const auto n = static_cast<double>(groups == 0 ? 1 : x.count() / groups);
    const auto each = [&](auto&& f) {
      for_each_broadcast(x.dims, strides, strides, [&](int64_t i, int64_t group, int64_t) {
        f(i, static_cast<size_t>(group));
      });
    };
    each([&](int64_t i, size_t group) { means[group] += at(i) / n; });
    each([&](int64_t i, size_t group) {
      const double d = at(i) - means[group];
      variances[group] += d * d / n;
    });
    each([&](int64_t i, size_t group) {
      const double y = (at(i) - means[group]) / (std::sqrt(variances[group]) + 1e-9);
      static_cast<T*>(memory)[i] = convert_number<T>(y);
    });
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

}  // namespace

std::vector<OpDef> ops_mean_variance_normalization() {
  return {{"", "MeanVarianceNormalization", 9, kLastOpset, 1, 1, 1, 1, {"axes"}, infer, reference}};
}

}  // namespace hasten
