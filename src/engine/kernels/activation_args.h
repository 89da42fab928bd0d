// What follows an accumulated sum.
#pragma once

#include <stdint.h>

namespace hasten {

/// What follows an accumulated sum, with parameters a and b.
enum ActivationKind : int32_t {
  kActivationNone,
  kActivationRelu,
  kActivationClip,         // min(max(x, a), b)
  kActivationLeakyRelu,    // x < 0 ? a * x : x
  kActivationHardSigmoid,  // min(max(a * x + b, 0), 1)
  kActivationHardSwish,    // x * hard sigmoid (1/6, 1/2)
  kActivationSigmoid,
  kActivationTanh,
  kActivationSilu,             // x * sigmoid(x)
  kActivationGelu,             // x / 2 (1 + erf(x / sqrt 2))
  kActivationAffine,           // a * x + b
  kActivationThresholdedRelu,  // x < a ? 0 : x
  kActivationScaledTanh,       // a * tanh(b * x)
  kActivationElu,              // x < 0 ? a * (e^x - 1) : x
  kActivationSoftsign,         // x / (1 + |x|)
  kActivationSoftplus,         // log(1 + e^x)
  kActivationReluAffine,       // a * max(x, 0) + b, each rounded
  kActivationHardSwishAffine,  // a * hard swish(x) + b, each rounded
};

/// An ActivationKind with its parameters.
struct Activation {
  ActivationKind kind = kActivationNone;
  float a = 0, b = 0;
};

}  // namespace hasten
