// https://onnx.ai/onnx/operators/onnx__Neg.html, opsets 6-21, floats and signed integers. The
// smallest integer wraps.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kSignedNumbers); }

Status reference(RefContext& c) {
  return reference_unary(c, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return WrappingSub()(T{0}, x);
    }
  });
}

Status lower(LowerContext& c) { return lower_unary(c, "neg_f32", c.kernels().neg_f32); }

}  // namespace

std::vector<OpDef> ops_neg() {
  return unary_ops({{"", "Neg", 6, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
