// https://onnx.ai/onnx/operators/onnx__Equal.html, opsets 7-21, all dtypes. NaN equals nothing.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kAnyDType, DType::kBool); }

Status reference(RefContext& c) {
  return reference_compare(c, [](const auto& x, const auto& y) { return x == y; });
}

Status lower(LowerContext& c) {
  const KernelTable& k = c.kernels();
  return lower_broadcast(c, {{DType::kF32, "equal_f32", k.equal_f32},
                             {DType::kI64, "equal_i64", k.equal_i64},
                             {DType::kI32, "equal_i32", k.equal_i32},
                             {DType::kBool, "equal_bool", k.equal_bool}});
}

}  // namespace

std::vector<OpDef> ops_equal() {
  return {{"", "Equal", 7, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
