// https://onnx.ai/onnx/operators/onnx__ConvInteger.html, opsets 10-21: u8 or i8 less their zero
// points (one; or of the weight one for each output channel) in i32 that wraps. Padding is the
// input's zero point.
#include "engine/ops/integer_convolution.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

constexpr IntegerConvInputs kInputs{0, 1, 2, 3};

Status infer(InferContext& c) { return infer_integer_convolution(c, kInputs, DType::kI32); }

Status reference(RefContext& c) { return reference_integer_convolution(c, kInputs, DType::kI32); }

Status lower(LowerContext& c) { return lower_integer_convolution(c, kInputs); }

}  // namespace

std::vector<OpDef> ops_conv_integer() {
  const std::vector<const char*> attrs = {"auto_pad",     "dilations", "group",
                                          "kernel_shape", "pads",      "strides"};
  return {{"", "ConvInteger", 10, kLastOpset, 2, 4, 1, 1, attrs, infer, reference, lower}};
}

}  // namespace hasten
