// The weights of LSTM, GRU and RNN as their kernels want them, and the products that do not depend
// on the state.
#pragma once

#include "engine/ops/recurrent.h"

namespace hasten {

/// X W^T + bias for all steps, and R in panels. The gates of 16 units lie together: column
/// (unit / 16 * gates + gate) * 16 + unit % 16, the units past `hidden` zero.
class RecurrentWeights {
 public:
  /// `merged`: gates whose recurrent bias joins the bias of X W^T.
  Status prepare(LowerContext& c, const Recurrent& r, const RecurrentDims& dims, int64_t merged);
  size_t scratch_bytes() const { return scratch_bytes_; }
  double flops() const;
  int64_t blocks() const { return blocks_; }
  int64_t columns() const { return columns_; }

  struct Ready {
    const float* xw[2];  // [rows of X][columns] of each direction
    const float* r[2];   // panels
    void put(int64_t d, RecurrentArgs& to) const {
      to.direction[d].xw = xw[d];
      to.direction[d].r = r[d];
    }
  };
  /// Does the products of X with all of W. `scratch`: scratch_bytes(), aligned to 64.
  Ready run(const StepArgs& s, std::byte* scratch) const;

 private:
  void pack(const float* from, int64_t k, float* to) const;
  void pack_bias(const float* from, float* to) const;
  const KernelTable* kernels_ = nullptr;
  int64_t gates_ = 0, directions_ = 0, hidden_ = 0, input_ = 0, blocks_ = 0, columns_ = 0,
          rows_ = 0, merged_ = 0;
  const float *w_ = nullptr, *r_ = nullptr, *bias_ = nullptr;  // if constant
  bool has_bias_ = false;
  MatrixProduct product_;
  size_t scratch_bytes_ = 0;
};

}  // namespace hasten
