#include "engine/passes/patterns.h"

#include <cmath>
#include <limits>

namespace hasten {

bool is_conv(const Node& node) {
  return node.op == "Conv" && (node.domain.empty() || node.domain == "hasten");
}

bool has_free_activation(const Node& node) {
  return node.attr_string("activation", "none") == "none";
}

namespace {

/// A bound of Clip: the constant, the default where it is absent, nothing where it isn't known.
std::optional<float> clip_bound(const Rewriter& rewriter, const Node& node, size_t input,
                                const char* attr, float otherwise) {
  if (node.version < 11) return node.attr_float(attr, otherwise);
  if (!node.has_input(input)) return otherwise;
  float value = 0;
  if (!rewriter.scalar(node.inputs[input], &value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ActivationPattern> match_activation(const Rewriter& rewriter, const Node& node) {
  const std::string& op = node.op;
  if (node.domain == "hasten") {
    if (op == "Silu") return ActivationPattern{"silu", {}};
    return std::nullopt;
  }
  if (!node.domain.empty()) return std::nullopt;
  if (op == "Relu") return ActivationPattern{"relu", {}};
  if (op == "Sigmoid") return ActivationPattern{"sigmoid", {}};
  if (op == "Tanh") return ActivationPattern{"tanh", {}};
  if (op == "HardSwish") return ActivationPattern{"hard_swish", {}};
  if (op == "LeakyRelu") return ActivationPattern{"leaky_relu", {node.attr_float("alpha", 0.01f)}};
  if (op == "Gelu" && node.attr_string("approximate", "none") == "none") {
    return ActivationPattern{"gelu", {}};
  }
  if (op == "HardSigmoid") {
    return ActivationPattern{"hard_sigmoid",
                             {node.attr_float("alpha", 0.2f), node.attr_float("beta", 0.5f)}};
  }
  if (op == "Clip") {
    constexpr float kMax = std::numeric_limits<float>::max();
    const auto low = clip_bound(rewriter, node, 1, "min", -kMax);
    const auto high = clip_bound(rewriter, node, 2, "max", kMax);
    // Outside of 0 the padding channels of a blocked output would not stay zero.
    if (!low || !high || !(*low <= 0) || !(*high >= 0)) return std::nullopt;
    return ActivationPattern{"clip", {*low, *high}};
  }
  return std::nullopt;
}

Node fused_form(const Node& node) {
  Node fused = node;
  fused.domain = "hasten";
  fused.version = 1;
  fused.def = find_op(fused.domain, fused.op, fused.version);
  return fused;
}

bool same_shape(const Graph& graph, ValueId a, ValueId b) {
  const Value &x = graph.value(a), &y = graph.value(b);
  return x.has_shape && y.has_shape && x.shape == y.shape;
}

std::optional<std::vector<float>> per_channel(const Tensor& constant, size_t rank,
                                              int64_t channels) {
  if (constant.dtype() != DType::kF32 || rank < 2) return std::nullopt;
  const float* data = constant.as<float>();
  if (constant.count() == 1 && constant.dims().size() <= rank) {
    return std::vector<float>(static_cast<size_t>(channels), data[0]);
  }
  const Dims& dims = constant.dims();
  if (constant.count() != channels || dims.size() > rank || dims.size() + 1 < rank)
    return std::nullopt;
  // Axis 1 of the output is this axis of the constant.
  const size_t axis = dims.size() - (rank - 1);
  if (dims[axis] != channels) return std::nullopt;
  return std::vector<float>(data, data + channels);
}

}  // namespace hasten
