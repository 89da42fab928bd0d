// The weights of DynamicQuantizeLSTM as its kernels want them, and the products of X.
#pragma once

#include "engine/ops/integer_product.h"
#include "engine/ops/recurrent.h"

namespace hasten {

/// Inputs after those of LSTM. W is [directions][input][gates * hidden], R likewise with hidden.
enum QuantizedRecurrentInput : size_t { kInWScale = 8, kInWZero, kInRScale, kInRZero };

/// X W^T + bias for all steps, X quantized row by row, and R in panels of bytes. Columns as
/// RecurrentWeights.
class QuantizedRecurrentWeights {
 public:
  Status prepare(LowerContext& c, const Recurrent& r, const RecurrentDims& dims, int64_t merged);
  size_t scratch_bytes() const { return static_cast<size_t>(bytes_); }
  double flops() const;
  int64_t blocks() const { return blocks_; }
  int64_t columns() const { return columns_; }

  struct Ready {
    const float* xw[2];
    RecurrentArgs::Quantized quantized[2];
    void put(int64_t d, RecurrentArgs& to) const {
      to.direction[d].xw = xw[d];
      to.quantized[d] = quantized[d];
    }
  };
  /// `scratch`: scratch_bytes(), aligned to 64.
  Ready run(const StepArgs& s, std::byte* scratch) const;

 private:
  /// W or R of all directions: panels, scales and zero points of each column.
  struct Side {
    size_t weight, scale, zero;  // inputs
    int64_t k = 0, pairs = 0;
    int64_t scale_step = 0, zero_step = 0;  // 0: one number a direction
    bool is_signed = false;
    const uint8_t* packed = nullptr;  // if constant
    int64_t at = 0, scale_at = 0, zero_at = 0;
  };
  Result<Side> side(LowerContext& c, size_t weight, size_t scale, size_t zero, int64_t k);
  void pack(const Side& side, const uint8_t* from, uint8_t* to) const;
  struct Numbers {
    const uint8_t* panels;
    const float* scale;
    const int32_t* zero;
  };
  Numbers numbers(const Side& side, const StepArgs& s, std::byte* scratch) const;
  /// f(column, row of a gate's weights) of a direction.
  template <class F>
  void for_each_column(F&& f) const;

  const KernelTable* kernels_ = nullptr;
  int64_t gates_ = 0, directions_ = 0, hidden_ = 0, blocks_ = 0, columns_ = 0, rows_ = 0,
          batch_ = 0, steps_ = 0;
  bool has_bias_ = false, has_lengths_ = false;
  Side w_{}, r_{};
  int64_t bytes_ = 0;  // of scratch
  int64_t x_at_ = 0, x_sum_at_ = 0, x_scale_at_ = 0, xw_at_ = 0, bias_at_ = 0;
  int64_t h_at_ = 0, h_sum_at_ = 0, h_scale_at_ = 0;
};

}  // namespace hasten
