// https://onnx.ai/onnx/operators/onnx__MatMulInteger.html, opsets 10-21: numpy.matmul of u8 or i8
// less their zero points (one, or one for each row of A and column of B) in i32 that wraps.
#include "engine/ops/integer_product.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

constexpr IntegerProductInputs kInputs{0, 1, 2, 3};

Status infer(InferContext& c) { return infer_integer_product(c, kInputs, DType::kI32); }

Status reference(RefContext& c) { return reference_integer_product(c, kInputs, DType::kI32); }

Status lower(LowerContext& c) { return lower_integer_product(c, kInputs); }

}  // namespace

std::vector<OpDef> ops_matmul_integer() {
  return {{"", "MatMulInteger", 10, kLastOpset, 2, 4, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
