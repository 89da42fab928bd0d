// A residual connection is added by the convolution that it follows.
//
//   %c = Conv(%x, W, b); %y = Add(%c, %r)   ->   %y = hasten.Conv(%x, W, b, %r)
//
// Only where %r is known to have the shape of %c (symbols equal), and %c has no other reader. Same
// bits: the convolution adds the residual after its bias, as the two nodes did.
#include "engine/passes/pass.h"
#include "engine/passes/patterns.h"

namespace hasten {

namespace {

Result<int> run(Graph& graph, PassContext&) {
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    Rewriter rewriter(graph, block);
    int changes = 0;
    for (size_t i = 0; i < rewriter.size(); ++i) {
      const Node& add = rewriter.node(i);
      if (!rewriter.alive(i) || !add.domain.empty() || add.op != "Add") continue;
      // The later of two convolutions, so that the other one's result is there.
      int conv_at = -1;
      size_t operand = 0;
      for (size_t k = 0; k < 2; ++k) {
        if (rewriter.single_user(add.inputs[k]) != static_cast<int>(i)) continue;
        const int at = rewriter.producer(add.inputs[k]);
        if (at < 0 || at <= conv_at || !rewriter.alive(static_cast<size_t>(at))) continue;
        const Node& conv = rewriter.node(static_cast<size_t>(at));
        if (!is_conv(conv) || !has_free_activation(conv) || conv.has_input(3)) continue;
        conv_at = at;
        operand = k;
      }
      if (conv_at < 0 || !same_shape(graph, add.inputs[0], add.inputs[1]) ||
          graph.value(add.inputs[0]).dtype != DType::kF32) {
        continue;
      }
      Node fused = fused_form(rewriter.node(static_cast<size_t>(conv_at)));
      fused.inputs.resize(4, kNoValue);
      fused.inputs[3] = add.inputs[1 - operand];
      fused.outputs = add.outputs;
      rewriter.remove(static_cast<size_t>(conv_at));
      rewriter.remove(i);
      rewriter.insert_before(i, std::move(fused));
      ++changes;
    }
    rewriter.sweep();
    return changes;
  });
}

}  // namespace

extern const Pass pass_fuse_conv_add;
const Pass pass_fuse_conv_add = {"fuse_conv_add", "Add(Conv(x), r) -> hasten.Conv(x, r)", run};

}  // namespace hasten
