// What operators on quantized tensors share: where scales and zero points lie, rounding.
#pragma once

#include <cmath>
#include <limits>

#include "engine/kernels/kernels.h"
#include "engine/ops/elementwise.h"

namespace hasten {

constexpr DTypes kBytes = dtypes({DType::kU8, DType::kI8});

/// round_to_even(x / scale) + zero, to the nearest end of Y where it does not fit; NaN: zero.
template <class Y, class T>
Y quantize_number(T x, T scale, Y zero) {
  const T q = x / scale;
  if (std::isnan(q)) return zero;
  const double rounded = std::nearbyint(static_cast<double>(q)) + zero;
  return static_cast<Y>(std::clamp(rounded, static_cast<double>(std::numeric_limits<Y>::min()),
                                   static_cast<double>(std::numeric_limits<Y>::max())));
}

/// Where the scale of each element of a tensor lies, as QuantizeArgs says.
struct QuantizeWalk {
  int64_t outer = 1, axis = 1, inner = 1, block = 1;
  int64_t outer_step = 0, axis_step = 0, inner_step = 0;

  int64_t count() const { return outer * axis * inner; }
  /// Without the pointers and the type.
  QuantizeArgs args() const;
  /// f(element, index of its scale)
  template <class F>
  void for_each(F&& f) const {
    int64_t at = 0;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t d = 0; d < axis; ++d) {
        for (int64_t i = 0; i < inner; ++i) {
          f(at++, o * outer_step + d / block * axis_step + i * inner_step);
        }
      }
    }
  }
};

/// Checks scale (input 1) and zero point (input 2) of QuantizeLinear or DequantizeLinear against
/// the dims of input 0 and the attributes axis and block_size, as far as they are known.
/// Errors: invalid_model.
Status check_quantization(InferContext& c);
/// For dims that check_quantization() accepted.
QuantizeWalk quantize_walk(const OpContext& c, const Dims& x, const Dims& scale);

/// Is there one element, as far as is known?
bool may_be_scalar(const Facts& f);
/// A scale or zero point (input i, if there is one) must have one element. Error: invalid_model.
Status check_scalar(const InferContext& c, size_t i, const char* name);

/// What lower() needs to run a quantize or dequantize kernel: all of the inputs' pointers are those
/// of the node.
using QuantizeKernel = void (*)(const QuantizeArgs*, int64_t, int64_t);
Status lower_quantization(LowerContext& c, const char* name, QuantizeKernel kernel, DType floats,
                          DType integers);

}  // namespace hasten
