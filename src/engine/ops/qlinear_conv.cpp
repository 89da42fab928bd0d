// https://onnx.ai/onnx/operators/onnx__QLinearConv.html, opsets 10-21: u8 or i8, the weight
// quantized as a whole or by output channel, quantized again.
#include "engine/ops/integer_convolution.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

constexpr IntegerConvInputs kInputs{0, 3, 2, 5, 1, 4, 6, 7, 8};

Status infer(InferContext& c) {
  for (const size_t i : {kInputs.x_scale, kInputs.w_scale, kInputs.y_scale}) {
    HASTEN_CHECK(check_dtype(c, i, dtypes({DType::kF32})));
  }
  HASTEN_CHECK(check_dtype(c, kInputs.y_zero, kBytes));
  return infer_integer_convolution(c, kInputs, c.in(kInputs.y_zero).dtype);
}

Status reference(RefContext& c) {
  return reference_integer_convolution(c, kInputs, c.in(kInputs.y_zero).dtype);
}

Status lower(LowerContext& c) { return lower_integer_convolution(c, kInputs); }

}  // namespace

std::vector<OpDef> ops_qlinear_conv() {
  const std::vector<const char*> attrs = {"auto_pad",     "dilations", "group",
                                          "kernel_shape", "pads",      "strides"};
  return {{"", "QLinearConv", 10, kLastOpset, 8, 9, 1, 1, attrs, infer, reference, lower}};
}

}  // namespace hasten
