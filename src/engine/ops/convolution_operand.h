// Weights and bias of a convolution in the form that its kernel wants.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "engine/ops/convolution.h"
#include "engine/ops/scratch.h"

namespace hasten {

inline int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
inline int64_t blocks_of(int64_t channels) {
  return round_up(channels, kChannelBlock) / kChannelBlock;
}

/// An input in the form that the kernel wants: packed once where it is constant, else at each run.
class ConvolutionOperand {
 public:
  using Fill = std::function<void(const float* from, float* to)>;  // `to` is zero before

  static Result<ConvolutionOperand> make(LowerContext& c, Scratch& scratch, size_t input,
                                         const std::string& format, int64_t count, Fill fill) {
    ConvolutionOperand o;
    if (!c.has_in(input)) return o;
    if (const Tensor* constant = c.constant(input)) {
      HASTEN_TRY(const void* data,
                 c.packed(input, format, static_cast<size_t>(count) * sizeof(float),
                          [&](void* to) { fill(constant->as<float>(), static_cast<float*>(to)); }));
      o.packed_ = static_cast<const float*>(data);
      return o;
    }
    o.input_ = static_cast<int64_t>(input);
    o.count_ = count;
    o.scratch_ = scratch.floats(count);
    o.fill_ = std::move(fill);
    return o;
  }

  /// Null where the input is absent.
  const float* get(const StepArgs& s) const {
    if (input_ < 0) return packed_;
    auto* to = reinterpret_cast<float*>(s.scratch + scratch_);
    std::fill(to, to + count_, 0.0f);
    fill_(s.input<float>(static_cast<size_t>(input_)), to);
    return to;
  }

 private:
  const float* packed_ = nullptr;
  int64_t input_ = -1, count_ = 0, scratch_ = 0;
  Fill fill_;
};

/// Input 2: each group's channels, padded with zeros to a multiple of 16; each `times` in a row.
inline Result<ConvolutionOperand> bias_operand(LowerContext& c, Scratch& scratch, int64_t groups,
                                               int64_t channels, int64_t times = 1) {
  const int64_t padded = round_up(channels * times, kChannelBlock);
  return ConvolutionOperand::make(c, scratch, 2, fmt::format("bias16/{}x{}", groups, times),
                                  groups * padded, [=](const float* bias, float* out) {
                                    for (int64_t g = 0; g < groups; ++g) {
                                      for (int64_t i = 0; i < channels * times; ++i) {
                                        out[g * padded + i] = bias[g * channels + i / times];
                                      }
                                    }
                                  });
}

template <class Args>
void set_activation(Args& args, const Activation& activation) {
  args.activation = activation.kind;
  args.a = activation.a;
  args.b = activation.b;
}

/// What every kernel wants to know that works through a WindowPlan.
template <class Args>
void set_window(Args& args, const Convolution& v, const WindowPlan& plan) {
  args.chunk_count = plan.chunk_count();
  args.steps = plan.steps;
  args.taps = plan.taps;
  args.in_pixels = plan.in_pixels;
  args.out_pixels = plan.out_pixels;
  set_activation(args, v.activation);
}

}  // namespace hasten
