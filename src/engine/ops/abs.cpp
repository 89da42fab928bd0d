// https://onnx.ai/onnx/operators/onnx__Abs.html, opsets 6-21, all numbers. The smallest integer
// wraps.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kNumbers); }

Status reference(RefContext& c) {
  return reference_unary(c, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {
      return x < 0 ? WrappingSub()(T{0}, x) : x;
    }
  });
}

Status lower(LowerContext& c) { return lower_unary(c, "abs_f32", c.kernels().abs_f32); }

}  // namespace

std::vector<OpDef> ops_abs() {
  return unary_ops({{"", "Abs", 6, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
