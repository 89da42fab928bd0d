// The activation that passes put into a fused operator: attributes `activation` (a name) and
// `activation_params` (floats).
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/kernels/kernels.h"
#include "engine/ops/op.h"

namespace hasten {

/// Reads the attributes; kActivationNone where they are absent. Errors: invalid_model.
Result<Activation> read_activation(const OpContext& c);

/// As the kernels do it, in the arithmetic of T.
template <class T>
T apply_activation(const Activation& f, T x) {
  const T a = static_cast<T>(f.a), b = static_cast<T>(f.b);
  const auto clip = [](T v, T low, T high) {
    v = v < low ? low : v;
    return v > high ? high : v;
  };
  const auto relu = [](T v) { return v < T(0) ? T(0) : v; };
  const auto hard_swish = [&](T v) {
    return v * clip(std::fma(v, static_cast<T>(1.0f / 6.0f), T(0.5)), T(0), T(1));
  };
  switch (f.kind) {
    case kActivationRelu:
      return relu(x);
    case kActivationClip:
      return clip(x, a, b);
    case kActivationLeakyRelu:
      return x < T(0) ? x * a : x;
    case kActivationHardSigmoid:
      return clip(std::fma(x, a, b), T(0), T(1));
    case kActivationHardSwish:
      return hard_swish(x);
    case kActivationSigmoid:
      return T(1) / (T(1) + std::exp(-x));
    case kActivationTanh:
      return std::tanh(x);
    case kActivationSilu:
      return x / (T(1) + std::exp(-x));
    case kActivationGelu:
      return x / T(2) * (T(1) + std::erf(x / std::sqrt(T(2))));
    case kActivationAffine:
      return a * x + b;
    case kActivationThresholdedRelu:
      return x < a ? T(0) : x;
    case kActivationScaledTanh:
      return a * std::tanh(b * x);
    case kActivationElu:
      return x < T(0) ? a * std::expm1(x) : x;
    case kActivationSoftsign:
      return x / (T(1) + std::abs(x));
    case kActivationSoftplus:
      return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
    case kActivationReluAffine:
      return a * relu(x) + b;
    case kActivationHardSwishAffine:
      return a * hard_swish(x) + b;
    default:
      return x;
  }
}

}  // namespace hasten
