#include "engine/ops/activation.h"

namespace hasten {

namespace {

struct Name {
  const char* name;
  ActivationKind kind;
  size_t params;
};
constexpr Name kNames[] = {
    {"none", kActivationNone, 0},
    {"relu", kActivationRelu, 0},
    {"clip", kActivationClip, 2},
    {"leaky_relu", kActivationLeakyRelu, 1},
    {"hard_sigmoid", kActivationHardSigmoid, 2},
    {"hard_swish", kActivationHardSwish, 0},
    {"sigmoid", kActivationSigmoid, 0},
    {"tanh", kActivationTanh, 0},
    {"silu", kActivationSilu, 0},
    {"gelu", kActivationGelu, 0},
    {"relu_affine", kActivationReluAffine, 2},
    {"hard_swish_affine", kActivationHardSwishAffine, 2},
};

}  // namespace

Result<Activation> read_activation(const OpContext& c) {
  const std::string name = c.node().attr_string("activation", "none");
  const std::vector<float> params = c.node().attr_floats("activation_params");
  for (const Name& n : kNames) {
    if (name != n.name) continue;
    if (params.size() != n.params) {
      return c.invalid("activation '{}' takes {} parameters, there are {}", name, n.params,
                       params.size());
    }
    Activation f{n.kind, 0, 0};
    if (n.params > 0) f.a = params[0];
    if (n.params > 1) f.b = params[1];
    return f;
  }
  return c.invalid("activation '{}' is unknown", name);
}

}  // namespace hasten
