// What scales and shifts the channels of a convolution goes into its weights and bias.
//
//   %c = Conv(%x, W, b); %y = BatchNormalization(%c, scale, shift, mean, var)
//   %c = Conv(%x, W, b); %y = Mul|Div|Add|Sub(%c, constant per channel)
//       ->   %y = Conv(%x, W', b')
//
// The new weights are computed in double and rounded once. The sum is then of other products than
// before: outputs agree within 1e-5 of their scale, not bit by bit (bit by bit where there was
// no bias and nothing is scaled). Nothing is folded where a new weight would not be finite (a zero
// variance, a division by zero).
#include "engine/passes/fuse_into.h"

namespace hasten {

namespace {

std::optional<Channels> channels_of(const Rewriter& rewriter, const Node& node) {
  const Tensor* w = rewriter.constant(node.input(1));
  if (w == nullptr || w->dims().size() < 2) return std::nullopt;
  size_t axis = 0;
  if (node.op == "ConvTranspose") {  // [C, M / group, …]
    const bool depthwise = w->dims()[1] == 1 && node.attr_int("group", 1) == w->dims()[0];
    if (!depthwise && node.attr_int("group", 1) != 1) return std::nullopt;
    if (!depthwise) axis = 1;
  }
  const int64_t count = w->dims()[axis], outer = axis == 0 ? 1 : w->dims()[0];
  return Channels{count, w->count() > 0 ? w->count() / count / outer : 0, false};
}

/// The node stays the operator that it is: a Conv has a bias too.
Result<int> run(Graph& graph, PassContext&) {
  Host host = conv_host();
  host.form = [](Rewriter&, const Node& node) -> Result<Node> { return node; };
  return fuse_scale(graph, host, channels_of);
}

}  // namespace

extern const Pass pass_fuse_conv_scale;
const Pass pass_fuse_conv_scale = {
    "fuse_conv_scale", "Conv then BatchNormalization, Mul, Add … per channel -> Conv", run, 1e-5};

}  // namespace hasten
