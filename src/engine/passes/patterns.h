// Shapes of nodes that several rewrites look for.
#pragma once

#include <optional>
#include <vector>

#include "engine/ops/op.h"
#include "engine/passes/rewrite.h"

namespace hasten {

/// A Conv of the file or of an earlier rewrite.
bool is_conv(const Node& node);
/// It has no activation yet.
bool has_free_activation(const Node& node);

/// The activation of a node as fused operators name it.
struct ActivationPattern {
  std::string name;
  std::vector<float> params;
};
/// Relu, Clip with constant bounds, LeakyRelu, HardSigmoid, HardSwish, Sigmoid, Tanh, Silu, Gelu.
std::optional<ActivationPattern> match_activation(const Rewriter& rewriter, const Node& node);

/// The node as `hasten.<op>`, which also takes a residual and an activation.
Node fused_form(const Node& node);

/// Both known, and equal dim by dim (symbols too).
bool same_shape(const Graph& graph, ValueId a, ValueId b);

/// The elements of a constant that has one element, or one per channel as [C,1,…] against an output
/// of rank `rank` (leading ones allowed): `channels` floats, or nothing.
std::optional<std::vector<float>> per_channel(const Tensor& constant, size_t rank,
                                              int64_t channels);

}  // namespace hasten
