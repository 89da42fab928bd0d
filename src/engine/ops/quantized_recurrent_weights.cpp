#include "engine/ops/quantized_recurrent_weights.h"

#include <algorithm>

#include "engine/ops/scratch.h"

namespace hasten {

template <class F>
void QuantizedRecurrentWeights::for_each_column(F&& f) const {
  for (int64_t gate = 0; gate < gates_; ++gate) {
    for (int64_t unit = 0; unit < hidden_; ++unit) {
      f((unit / kPanel * gates_ + gate) * kPanel + unit % kPanel, gate * hidden_ + unit);
    }
  }
}

/// One direction, [k][gates * hidden].
void QuantizedRecurrentWeights::pack(const Side& side, const uint8_t* from, uint8_t* to) const {
  for (int64_t block = 0; block < blocks_; ++block) {
    const int64_t unit = block * kPanel, units = std::min(hidden_ - unit, kPanel);
    for (int64_t gate = 0; gate < gates_; ++gate) {
      const PairPanels panel{side.k, units, gates_ * hidden_, 1};
      panel.pack(from + gate * hidden_ + unit, to, 0, 1);
      to += panel.bytes();
    }
  }
}

Result<QuantizedRecurrentWeights::Side> QuantizedRecurrentWeights::side(LowerContext& c,
                                                                        size_t weight, size_t scale,
                                                                        size_t zero, int64_t k) {
  Side side;
  side.weight = weight;
  side.scale = scale;
  side.zero = zero;
  side.k = k;
  side.pairs = (k + 1) / 2;
  side.scale_step = c.in_dims(scale).size() > 1;
  side.zero_step = c.in_dims(zero).size() > 1;
  side.is_signed = c.in(weight).dtype == DType::kI8;
  if (c.constant(weight)) {
    const int64_t bytes = columns_ * side.pairs * 2;
    HASTEN_TRY(const void* packed,
               c.packed(weight, fmt::format("gate_pairs{}", gates_),
                        static_cast<size_t>(directions_ * bytes), [&](void* to) {
                          for (int64_t d = 0; d < directions_; ++d) {
                            pack(side, c.constant(weight)->as<uint8_t>() + d * k * gates_ * hidden_,
                                 static_cast<uint8_t*>(to) + d * bytes);
                          }
                        }));
    side.packed = static_cast<const uint8_t*>(packed);
  }
  return side;
}

Status QuantizedRecurrentWeights::prepare(LowerContext& c, const Recurrent& r,
                                          const RecurrentDims& dims, int64_t) {
  kernels_ = &c.kernels();
  gates_ = r.gates;
  directions_ = r.directions;
  hidden_ = dims.hidden;
  batch_ = dims.batch;
  blocks_ = (hidden_ + kPanel - 1) / kPanel;
  columns_ = blocks_ * gates_ * kPanel;
  steps_ = dims.steps;
  rows_ = dims.steps * dims.batch;
  has_lengths_ = c.has_in(kInLengths);
  has_bias_ = c.has_in(kInB);
  HASTEN_TRY(w_, side(c, kInW, kInWScale, kInWZero, dims.input));
  HASTEN_TRY(r_, side(c, kInR, kInRScale, kInRZero, hidden_));
  Scratch scratch;
  for (Side* s : {&w_, &r_}) {
    if (!s->packed) s->at = scratch.take<uint8_t>(directions_ * columns_ * s->pairs * 2);
    s->scale_at = scratch.floats(directions_ * columns_);
    s->zero_at = scratch.take<int32_t>(directions_ * columns_);
  }
  x_at_ = scratch.take<int16_t>(rows_ * w_.pairs * 2);
  x_sum_at_ = scratch.take<int32_t>(rows_);
  x_scale_at_ = scratch.floats(rows_);
  xw_at_ = scratch.floats(directions_ * rows_ * columns_);
  bias_at_ = scratch.floats(columns_);
  h_at_ = scratch.take<int16_t>(directions_ * batch_ * r_.pairs * 2);
  h_sum_at_ = scratch.take<int32_t>(directions_ * batch_);
  h_scale_at_ = scratch.floats(directions_ * batch_);
  bytes_ = scratch.bytes;
  return {};
}

double QuantizedRecurrentWeights::flops() const {
  return 2.0 * static_cast<double>(directions_ * gates_ * hidden_) * static_cast<double>(rows_) *
         static_cast<double>(w_.k + hidden_);
}

QuantizedRecurrentWeights::Numbers QuantizedRecurrentWeights::numbers(const Side& side,
                                                                      const StepArgs& s,
                                                                      std::byte* scratch) const {
  const int64_t bytes = columns_ * side.pairs * 2, gate_rows = gates_ * hidden_;
  auto* panels = reinterpret_cast<uint8_t*>(scratch + side.at);
  auto* scale = reinterpret_cast<float*>(scratch + side.scale_at);
  auto* zero = reinterpret_cast<int32_t*>(scratch + side.zero_at);
  std::fill_n(scale, directions_ * columns_, 0.0f);
  std::fill_n(zero, directions_ * columns_, 0);
  int32_t any = 0;
  for (int64_t d = 0; d < directions_; ++d) {
    if (!side.packed) {
      pack(side, s.input<uint8_t>(side.weight) + d * side.k * gate_rows, panels + d * bytes);
    }
    for_each_column([&](int64_t column, int64_t row) {
      scale[d * columns_ + column] =
          s.input<float>(side.scale)[side.scale_step ? d * gate_rows + row : d];
      const int32_t z =
          byte_at(s.in[side.zero], side.is_signed, side.zero_step ? d * gate_rows + row : d);
      zero[d * columns_ + column] = z;
      any |= z;
    });
  }
  return {side.packed ? side.packed : panels, scale, any != 0 ? zero : nullptr};
}

QuantizedRecurrentWeights::Ready QuantizedRecurrentWeights::run(const StepArgs& s,
                                                                std::byte* scratch) const {
  const Numbers w = numbers(w_, s, scratch), r = numbers(r_, s, scratch);
  const QuantizeRowsArgs rows{s.input<float>(kInX),
                              w_.k,
                              w_.pairs,
                              reinterpret_cast<int16_t*>(scratch + x_at_),
                              reinterpret_cast<int32_t*>(scratch + x_sum_at_),
                              reinterpret_cast<float*>(scratch + x_scale_at_),
                              steps_,
                              batch_,
                              has_lengths_ ? s.input<int32_t>(kInLengths) : nullptr};
  s.parallel(batch_, std::max<int64_t>(1, kCheapGrain / std::max<int64_t>(w_.k * steps_, 1)),
             [&](int64_t begin, int64_t end) { kernels_->quantize_rows_f32(&rows, begin, end); });
  auto* xw = reinterpret_cast<float*>(scratch + xw_at_);
  auto* bias = reinterpret_cast<float*>(scratch + bias_at_);
  std::fill_n(bias, columns_, 0.0f);
  Ready ready{};
  for (int64_t d = 0; d < directions_; ++d) {
    IntegerGemmArgs g{};
    g.products = 1;
    g.m = rows_;
    g.n = columns_;
    g.pairs = w_.pairs;
    g.a = rows.out;
    g.a_sum = rows.sum;
    g.a_scale = rows.scale;
    g.b = w.panels + d * columns_ * w_.pairs * 2;
    g.b_signed = w_.is_signed;
    g.b_scale = w.scale + d * columns_;
    g.b_zero = w.zero ? w.zero + d * columns_ : nullptr;
    g.y = xw + d * rows_ * columns_;
    g.y_dtype = static_cast<int>(DType::kF32);
    g.row_block = 24;
    if (has_bias_) {
      const float* from = s.input<float>(kInB) + d * 2 * gates_ * hidden_;
      for_each_column([&](int64_t column, int64_t row) {
        bias[column] = from[row] + from[gates_ * hidden_ + row];
      });
      g.bias = bias;
    }
    const int64_t items = (rows_ + g.row_block - 1) / g.row_block *
                          ((columns_ / kPanel + kItemPanels - 1) / kItemPanels);
    s.parallel(items, 1, [&](int64_t begin, int64_t end) { kernels_->gemm_s32(&g, begin, end); });
    ready.xw[d] = xw + d * rows_ * columns_;
    RecurrentArgs::Quantized& q = ready.quantized[d];
    q.r = r.panels + d * columns_ * r_.pairs * 2;
    q.r_signed = r_.is_signed;
    q.scale = r.scale + d * columns_;
    q.zero = r.zero ? r.zero + d * columns_ : nullptr;
    q.pairs = r_.pairs;
    q.h = reinterpret_cast<int16_t*>(scratch + h_at_) + d * batch_ * r_.pairs * 2;
    q.h_sum = reinterpret_cast<int32_t*>(scratch + h_sum_at_) + d * batch_;
    q.h_scale = reinterpret_cast<float*>(scratch + h_scale_at_) + d * batch_;
  }
  return ready;
}

}  // namespace hasten
