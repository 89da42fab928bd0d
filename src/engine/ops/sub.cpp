// https://onnx.ai/onnx/operators/onnx__Sub.html, opsets 7-21, all numbers; integers wrap.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kNumbers); }

Status reference(RefContext& c) { return reference_numbers(c, WrappingSub()); }

Status lower(LowerContext& c) {
  const KernelTable& k = c.kernels();
  return lower_broadcast(c, {{DType::kF32, "sub_f32", k.sub_f32},
                             {DType::kI64, "sub_i64", k.sub_i64},
                             {DType::kI32, "sub_i32", k.sub_i32}});
}

}  // namespace

std::vector<OpDef> ops_sub() {
  return {{"", "Sub", 7, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
