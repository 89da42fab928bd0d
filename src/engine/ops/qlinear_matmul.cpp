// https://onnx.ai/onnx/operators/onnx__QLinearMatMul.html, opsets 10-21: numpy.matmul of u8 or i8
// quantized as a whole or by row of A and column of B, quantized again; scales f32 and (from 21)
// f16, bf16. float8 is refused where tensors are read.
#include "engine/ops/integer_product.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

constexpr IntegerProductInputs kInputs{0, 3, 2, 5, 1, 4, 6, 7};

Status infer(InferContext& c) {
  const DTypes scales = c.node().version < 21 ? dtypes({DType::kF32})
                                              : dtypes({DType::kF32, DType::kF16, DType::kBF16});
  for (const size_t i : {kInputs.a_scale, kInputs.b_scale, kInputs.y_scale}) {
    HASTEN_CHECK(check_dtype(c, i, scales));
    const DType first = c.in(kInputs.a_scale).dtype, dtype = c.in(i).dtype;
    if (dtype != first && dtype != DType::kNone && first != DType::kNone) {
      return c.invalid("scales have dtypes {} and {}, they must be the same", dtype_name(first),
                       dtype_name(dtype));
    }
  }
  HASTEN_CHECK(check_dtype(c, kInputs.y_zero, kBytes));
  return infer_integer_product(c, kInputs, c.in(kInputs.y_zero).dtype);
}

Status reference(RefContext& c) {
  return reference_integer_product(c, kInputs, c.in(kInputs.y_zero).dtype);
}

Status lower(LowerContext& c) { return lower_integer_product(c, kInputs); }

}  // namespace

std::vector<OpDef> ops_qlinear_matmul() {
  return {{"", "QLinearMatMul", 10, kLastOpset, 8, 8, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
