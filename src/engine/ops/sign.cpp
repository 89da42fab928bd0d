// https://onnx.ai/onnx/operators/onnx__Sign.html, opsets 9-21, all numbers. NaN stays NaN, -0 gives
// 0.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kNumbers); }

Status reference(RefContext& c) {
  return reference_unary(c, [](auto x) {
    using T = decltype(x);
    if (x < 0) return static_cast<T>(-1);
    return x > 0 ? T{1} : x;
  });
}

Status lower(LowerContext& c) { return lower_unary(c, "sign_f32", c.kernels().sign_f32); }

}  // namespace

std::vector<OpDef> ops_sign() {
  return unary_ops({{"", "Sign", 9, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
