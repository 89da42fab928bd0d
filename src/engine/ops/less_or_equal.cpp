// https://onnx.ai/onnx/operators/onnx__LessOrEqual.html, opsets 12-21, all numbers. NaN compares
// false.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kNumbers, DType::kBool); }

Status reference(RefContext& c) {
  return reference_compare(c, [](const auto& x, const auto& y) { return x <= y; });
}

Status lower(LowerContext& c) {
  const KernelTable& k = c.kernels();
  return lower_broadcast(c, {{DType::kF32, "less_or_equal_f32", k.less_or_equal_f32},
                             {DType::kI64, "less_or_equal_i64", k.less_or_equal_i64},
                             {DType::kI32, "less_or_equal_i32", k.less_or_equal_i32}});
}

}  // namespace

std::vector<OpDef> ops_less_or_equal() {
  return {{"", "LessOrEqual", 12, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
