// What the rewrites of convolutions and of matrix products share: what follows the sums goes into
// the operator that makes them.
#pragma once

#include <functional>
#include <optional>

#include "engine/passes/pass.h"
#include "engine/passes/patterns.h"

namespace hasten {

/// An operator that can take over what follows it: input 2 is its bias, input 3 of the fused form
/// its residual.
struct Host {
  /// The node is one.
  std::function<bool(const Rewriter&, const Node&)> is;
  /// The node as the operator that has residual and activation.
  std::function<Result<Node>(Rewriter&, const Node&)> form;
};
Host conv_host();
Host gemm_host();

/// The node of this block that makes input `input` of node `at`, if it is such an operator without
/// an activation, makes floats, and nobody else reads them; else -1.
int host_of(const Rewriter& rewriter, const Host& host, size_t at, ValueId input);

/// Add(host, r) -> host with residual r; where r has the shape of the result.
Result<int> fuse_residual(Graph& graph, const Host& host);
/// Relu(host), … -> host with that activation.
Result<int> fuse_activation(Graph& graph, const Host& host);

/// How a host's output channels lie in its weights (input 1): weight i belongs to channel
/// i / inner % count. In the result they lie along axis 1, or along the last.
struct Channels {
  int64_t count;
  int64_t inner;
  bool last_axis;
};
/// Mul, Div, Add, Sub by constants per channel and BatchNormalization after a host with constant
/// weights and bias (absent or one number per channel; `channels` says so, or nothing) -> host with
/// other weights and bias.
using ChannelsOf = std::function<std::optional<Channels>(const Rewriter&, const Node&)>;
Result<int> fuse_scale(Graph& graph, const Host& host, const ChannelsOf& channels);

}  // namespace hasten
