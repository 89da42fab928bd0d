// Products of matrices of 8-bit integers: MatMulInteger and QLinearMatMul.
#pragma once

#include <vector>

#include "engine/ops/quantization.h"

namespace hasten {

/// Where a product has its inputs; kNone: nowhere.
struct IntegerProductInputs {
  static constexpr size_t kNone = SIZE_MAX;
  size_t a, b, a_zero, b_zero;
  size_t a_scale = kNone, b_scale = kNone, y_scale = kNone, y_zero = kNone;
};

/// Checks operands, zero points and scales and sets output 0. Errors: invalid_model.
Status infer_integer_product(InferContext& c, const IntegerProductInputs& in, DType dtype);
/// Plain loops in 32 bits that wrap; requantized where there are scales.
Status reference_integer_product(RefContext& c, const IntegerProductInputs& in, DType dtype);
Status lower_integer_product(LowerContext& c, const IntegerProductInputs& in);

/// An 8-bit number of either kind.
inline int32_t byte_at(const void* data, bool is_signed, int64_t i) {
  return is_signed ? static_cast<const int8_t*>(data)[i] : static_cast<const uint8_t*>(data)[i];
}
/// A scale of any float type.
float scale_at(const void* data, DType dtype, int64_t i);
/// What references of requantizing operators do; kernels do the same. The result as int32.
int32_t requantize_number(int32_t sum, float factor, int32_t zero, DType to);

/// One direction of B[k][n] (with strides) into panels [ceil(n / 16)][ceil(k / 2)][16][2] of bytes,
/// zero where there are none; panels [begin, end).
struct PairPanels {
  int64_t k, n, b_k, b_n;
  int64_t panels() const { return (n + 15) / 16; }
  int64_t pairs() const { return (k + 1) / 2; }
  int64_t bytes() const { return panels() * pairs() * 32; }
  void pack(const uint8_t* b, uint8_t* to, int64_t begin, int64_t end) const;
};

}  // namespace hasten
