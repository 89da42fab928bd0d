// https://onnx.ai/onnx/operators/onnx__Greater.html, opsets 7-21, all numbers. NaN compares false.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kNumbers, DType::kBool); }

Status reference(RefContext& c) {
  return reference_compare(c, [](const auto& x, const auto& y) { return x > y; });
}

Status lower(LowerContext& c) {
  const KernelTable& k = c.kernels();
  return lower_broadcast(c, {{DType::kF32, "greater_f32", k.greater_f32},
                             {DType::kI64, "greater_i64", k.greater_i64},
                             {DType::kI32, "greater_i32", k.greater_i32}});
}

}  // namespace

std::vector<OpDef> ops_greater() {
  return {{"", "Greater", 7, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
