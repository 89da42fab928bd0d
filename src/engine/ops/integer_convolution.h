// Convolutions of 8-bit integers: ConvInteger and QLinearConv.
#pragma once

#include "engine/ops/convolution.h"
#include "engine/ops/quantization.h"

namespace hasten {

/// Where a convolution has its inputs; kNone: nowhere.
struct IntegerConvInputs {
  static constexpr size_t kNone = SIZE_MAX;
  size_t x, w, x_zero, w_zero;
  size_t x_scale = kNone, w_scale = kNone, y_scale = kNone, y_zero = kNone, bias = kNone;
};

/// Checks sizes, attributes, zero points and scales and sets output 0. Errors: invalid_model.
Status infer_integer_convolution(InferContext& c, const IntegerConvInputs& in, DType dtype);
/// Plain loops in 32 bits that wrap; requantized where there are scales.
Status reference_integer_convolution(RefContext& c, const IntegerConvInputs& in, DType dtype);
/// Takes a kernel for 1 to 3 spatial axes.
Status lower_integer_convolution(LowerContext& c, const IntegerConvInputs& in);

}  // namespace hasten
