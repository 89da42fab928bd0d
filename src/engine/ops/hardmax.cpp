// https://onnx.ai/onnx/operators/onnx__Hardmax.html, opsets 1-12 (over all axes from one on) and
// 13-21 (along one axis), floats. As in ArgMax, a NaN beats every number.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/softmax_rows.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  if (c.in(0).has_shape) HASTEN_CHECK(softmax_axis(c, c.in(0).rank()));
  return infer_unary(c, kFloats);
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const size_t axis, softmax_axis(c, x.dims.size()));
  const SoftmaxExtent e = softmax_extent(c, x.dims, axis);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const bool known = dispatch_float(x.dtype, [&](auto t) {
    using T = decltype(t);
    using C = typename Compute<T>::type;
    if (e.n == 0) return;
    for (int64_t row = 0; row < e.outer * e.inner; ++row) {
      const int64_t base = row / e.inner * e.n * e.inner + row % e.inner;
      const auto at = [&](int64_t i) { return Compute<T>::load(x.as<T>()[base + i * e.inner]); };
      int64_t best = 0;
      for (int64_t i = 1; i < e.n && !std::isnan(at(best)); ++i) {
        if (at(i) > at(best) || std::isnan(at(i))) best = i;
      }
      for (int64_t i = 0; i < e.n; ++i) {
        static_cast<T*>(memory)[base + i * e.inner] = Compute<T>::store(C(i == best));
      }
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

}  // namespace

std::vector<OpDef> ops_hardmax() {
  OpDef old{"", "Hardmax", 1, 12, 1, 1, 1, 1, {"axis"}, infer, reference};
  OpDef now = old;
  now.since = 13;
  now.until = kLastOpset;
  return {old, now};
}

}  // namespace hasten
