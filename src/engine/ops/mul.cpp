// https://onnx.ai/onnx/operators/onnx__Mul.html, opsets 7-21, all numbers; integers wrap.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kNumbers); }

Status reference(RefContext& c) { return reference_numbers(c, WrappingMul()); }

Status lower(LowerContext& c) {
  const KernelTable& k = c.kernels();
  return lower_broadcast(c, {{DType::kF32, "mul_f32", k.mul_f32},
                             {DType::kI64, "mul_i64", k.mul_i64},
                             {DType::kI32, "mul_i32", k.mul_i32}});
}

}  // namespace

std::vector<OpDef> ops_mul() {
  return {{"", "Mul", 7, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
