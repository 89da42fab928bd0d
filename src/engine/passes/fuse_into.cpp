#include "engine/passes/fuse_into.h"

namespace hasten {

Host conv_host() {
  return {[](const Rewriter&, const Node& node) { return is_conv(node); },
          [](Rewriter&, const Node& node) -> Result<Node> { return fused_form(node); }};
}

Host gemm_host() { return {is_gemm, gemm_form}; }

int host_of(const Rewriter& rewriter, const Host& host, size_t at, ValueId input) {
  if (input == kNoValue || rewriter.single_user(input) != static_cast<int>(at)) return -1;
  const int made_at = rewriter.producer(input);
  if (made_at < 0 || !rewriter.alive(static_cast<size_t>(made_at))) return -1;
  const Node& node = rewriter.node(static_cast<size_t>(made_at));
  const bool fits = host.is(rewriter, node) && has_free_activation(node) &&
                    rewriter.value(input).dtype == DType::kF32;
  return fits ? made_at : -1;
}

Result<int> fuse_residual(Graph& graph, const Host& host) {
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    Rewriter rewriter(graph, block);
    int changes = 0;
    for (size_t i = 0; i < rewriter.size(); ++i) {
      const Node& add = rewriter.node(i);
      if (!rewriter.alive(i) || !add.domain.empty() || add.op != "Add") continue;
      // The later of two hosts, so that the other one's result is there.
      int host_at = -1;
      size_t operand = 0;
      for (size_t k = 0; k < 2; ++k) {
        const int at = host_of(rewriter, host, i, add.inputs[k]);
        if (at <= host_at || rewriter.node(static_cast<size_t>(at)).has_input(3)) continue;
        host_at = at;
        operand = k;
      }
      if (host_at < 0 || !same_shape(graph, add.inputs[0], add.inputs[1])) continue;
      const ValueId residual = add.inputs[1 - operand];
      const ValueId out = add.outputs[0];
      HASTEN_TRY(Node fused, host.form(rewriter, rewriter.node(static_cast<size_t>(host_at))));
      fused.inputs.resize(4, kNoValue);
      fused.inputs[3] = residual;
      fused.outputs = {out};
      rewriter.remove(static_cast<size_t>(host_at));
      rewriter.remove(i);
      rewriter.insert_before(i, std::move(fused));
      ++changes;
    }
    rewriter.sweep();
    return changes;
  });
}

Result<int> fuse_activation(Graph& graph, const Host& host) {
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    Rewriter rewriter(graph, block);
    int changes = 0;
    for (size_t i = 0; i < rewriter.size(); ++i) {
      const Node& node = rewriter.node(i);
      if (!rewriter.alive(i) || node.inputs.empty()) continue;
      const auto activation = match_activation(rewriter, node);
      if (!activation) continue;
      const int at = host_of(rewriter, host, i, node.inputs[0]);
      if (at < 0) continue;
      const ValueId out = node.outputs[0];
      HASTEN_TRY(Node fused, host.form(rewriter, rewriter.node(static_cast<size_t>(at))));
      fused.set_attr("activation", activation->name);
      if (!activation->params.empty()) fused.set_attr("activation_params", activation->params);
      fused.outputs = {out};
      rewriter.remove(static_cast<size_t>(at));
      rewriter.remove(i);
      rewriter.insert_before(i, std::move(fused));
      ++changes;
    }
    rewriter.sweep();
    return changes;
  });
}

}  // namespace hasten
