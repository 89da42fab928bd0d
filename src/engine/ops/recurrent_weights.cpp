#include "engine/ops/recurrent_weights.h"

#include <algorithm>

namespace hasten {

namespace {

constexpr size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

/// One direction of W or R, [gates * hidden][k], into panels.
void RecurrentWeights::pack(const float* from, int64_t k, float* to) const {
  for (int64_t block = 0; block < blocks_; ++block) {
    const int64_t unit = block * kPanel, units = std::min(hidden_ - unit, kPanel);
    for (int64_t gate = 0; gate < gates_; ++gate) {
      const PackPanelsArgs args{units, k, from + (gate * hidden_ + unit) * k, 1, k, nullptr, to};
      kernels_->pack_panels_f32(&args, 0, 1);
      to += k * kPanel;
    }
  }
}

/// One direction of B: Wb, plus Rb for the merged gates.
void RecurrentWeights::pack_bias(const float* from, float* to) const {
  std::fill_n(to, columns_, 0.0f);
  for (int64_t gate = 0; gate < gates_; ++gate) {
    for (int64_t unit = 0; unit < hidden_; ++unit) {
      const float wb = from[gate * hidden_ + unit];
      const float rb = from[(gates_ + gate) * hidden_ + unit];
      to[(unit / kPanel * gates_ + gate) * kPanel + unit % kPanel] = gate < merged_ ? wb + rb : wb;
    }
  }
}

Status RecurrentWeights::prepare(LowerContext& c, const Recurrent& r, const RecurrentDims& dims,
                                 int64_t merged) {
  kernels_ = &c.kernels();
  gates_ = r.gates;
  directions_ = r.directions;
  hidden_ = dims.hidden;
  input_ = dims.input;
  merged_ = merged;
  blocks_ = (hidden_ + kPanel - 1) / kPanel;
  columns_ = blocks_ * gates_ * kPanel;
  rows_ = dims.steps * dims.batch;
  has_bias_ = c.has_in(kInB);
  const auto keep = [&](size_t input, const char* format, int64_t floats, int64_t stride,
                        auto&& fill) -> Result<const float*> {
    if (c.constant(input) == nullptr) {
      scratch_bytes_ += round_up(static_cast<size_t>(directions_ * floats) * sizeof(float));
      return nullptr;
    }
    HASTEN_TRY(const void* packed,
               c.packed(input, fmt::format("{}{}", format, gates_),
                        static_cast<size_t>(directions_ * floats) * sizeof(float), [&](void* to) {
                          const auto* from = c.constant(input)->as<float>();
                          for (int64_t d = 0; d < directions_; ++d) {
                            fill(from + d * stride, static_cast<float*>(to) + d * floats);
                          }
                        }));
    return static_cast<const float*>(packed);
  };
  const int64_t gate_rows = gates_ * hidden_;
  HASTEN_TRY(w_, keep(kInW, "gates", columns_ * input_, gate_rows * input_,
                      [&](const float* from, float* to) { pack(from, input_, to); }));
  HASTEN_TRY(r_, keep(kInR, "gates", columns_ * hidden_, gate_rows * hidden_,
                      [&](const float* from, float* to) { pack(from, hidden_, to); }));
  if (has_bias_) {
    HASTEN_TRY(bias_,
               keep(kInB, merged == gates_ ? "gate_bias" : "gate_bias_apart", columns_,
                    2 * gate_rows, [&](const float* from, float* to) { pack_bias(from, to); }));
  }
  product_ = MatrixProduct::make(*kernels_, rows_, columns_, input_, kPanel, 1);
  product_.args.d_col = 1;
  product_.use_panels();
  product_.choose();
  scratch_bytes_ += round_up(static_cast<size_t>(directions_ * rows_ * columns_) * sizeof(float));
  return {};
}

double RecurrentWeights::flops() const {
  return 2.0 * static_cast<double>(directions_ * gates_ * hidden_) * static_cast<double>(rows_) *
         static_cast<double>(input_ + hidden_);
}

RecurrentWeights::Ready RecurrentWeights::run(const StepArgs& s, std::byte* scratch) const {
  const auto take = [&](int64_t floats) {
    auto* p = reinterpret_cast<float*>(scratch);
    scratch += round_up(static_cast<size_t>(floats) * sizeof(float));
    return p;
  };
  const int64_t gate_rows = gates_ * hidden_;
  const auto ready = [&](const float* constant, size_t input, int64_t floats, int64_t stride,
                         auto&& fill) -> const float* {
    if (constant != nullptr) return constant;
    float* to = take(directions_ * floats);
    for (int64_t d = 0; d < directions_; ++d) {
      fill(s.input<float>(input) + d * stride, to + d * floats);
    }
    return to;
  };
  const float* w = ready(w_, kInW, columns_ * input_, gate_rows * input_,
                         [&](const float* from, float* to) { pack(from, input_, to); });
  const float* r = ready(r_, kInR, columns_ * hidden_, gate_rows * hidden_,
                         [&](const float* from, float* to) { pack(from, hidden_, to); });
  const float* bias = nullptr;
  if (has_bias_) {
    bias = ready(bias_, kInB, columns_, 2 * gate_rows,
                 [&](const float* from, float* to) { pack_bias(from, to); });
  }
  float* xw = take(directions_ * rows_ * columns_);
  Ready out{};
  for (int64_t d = 0; d < directions_; ++d) {
    out.xw[d] = xw + d * rows_ * columns_;
    out.r[d] = r + d * columns_ * hidden_;
    product_.run(s, s.input<float>(kInX), w + d * columns_ * input_, xw + d * rows_ * columns_,
                 bias ? bias + d * columns_ : nullptr, nullptr, nullptr);
  }
  return out;
}

}  // namespace hasten
