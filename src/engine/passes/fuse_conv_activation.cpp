// An activation is applied by the convolution that it follows.
//
//   %c = Conv(%x, W, b, r); %y = Relu(%c)   ->   %y = hasten.Conv(%x, W, b, r) {activation="relu"}
//
// Relu, Clip with constant bounds around 0, LeakyRelu, HardSigmoid, HardSwish, Sigmoid, Tanh, Silu,
// Gelu. Only where %c has no other reader. Same bits: it is the same function on the same sums.
#include "engine/passes/pass.h"
#include "engine/passes/patterns.h"

namespace hasten {

namespace {

Result<int> run(Graph& graph, PassContext&) {
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    Rewriter rewriter(graph, block);
    int changes = 0;
    for (size_t i = 0; i < rewriter.size(); ++i) {
      const Node& node = rewriter.node(i);
      if (!rewriter.alive(i) || node.inputs.empty() || node.inputs[0] == kNoValue) continue;
      const auto activation = match_activation(rewriter, node);
      if (!activation || rewriter.single_user(node.inputs[0]) != static_cast<int>(i)) continue;
      const int at = rewriter.producer(node.inputs[0]);
      if (at < 0 || !rewriter.alive(static_cast<size_t>(at))) continue;
      const Node& conv = rewriter.node(static_cast<size_t>(at));
      if (!is_conv(conv) || !has_free_activation(conv) ||
          graph.value(node.inputs[0]).dtype != DType::kF32) {
        continue;
      }
      Node fused = fused_form(conv);
      fused.set_attr("activation", activation->name);
      if (!activation->params.empty()) fused.set_attr("activation_params", activation->params);
      fused.outputs = {node.outputs[0]};
      rewriter.remove(static_cast<size_t>(at));
      rewriter.remove(i);
      rewriter.insert_before(i, std::move(fused));
      ++changes;
    }
    rewriter.sweep();
    return changes;
  });
}

}  // namespace

extern const Pass pass_fuse_conv_activation;
const Pass pass_fuse_conv_activation = {"fuse_conv_activation",
                                        "Relu(Conv(x)) -> hasten.Conv(x) {activation}", run};

}  // namespace hasten
