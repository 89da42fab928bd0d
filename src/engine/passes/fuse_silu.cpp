// SiLU (swish) as exporters write it.
//
//   %s = Sigmoid(%x); %y = Mul(%x, %s)   ->   %y = hasten.Silu(%x)
//
// Either operand order, f32, where %s has no other reader. Same bits (those
// of a NaN aside).
#include "engine/passes/pass.h"
#include "engine/passes/patterns.h"

namespace hasten {

namespace {

bool fuse_at(Rewriter& rewriter, size_t root) {
  const Node& mul = rewriter.node(root);
  if (!rewriter.alive(root) || !mul.domain.empty() || mul.op != "Mul") return false;
  if (rewriter.value(mul.outputs[0]).dtype != DType::kF32) return false;
  for (ValueId gate : mul.inputs) {
    const int at = producer_of(rewriter, gate, "Sigmoid");
    if (at < 0) continue;
    const ValueId x = rewriter.node(static_cast<size_t>(at)).inputs[0];
    if (other_input(mul, gate) != x) continue;
    Node silu = onnx_node(mul, "Silu", 1, {x});
    silu.domain = "hasten";
    silu.def = find_op(silu.domain, silu.op, silu.version);
    return replace_nodes(rewriter, {root, static_cast<size_t>(at)}, std::move(silu));
  }
  return false;
}

Result<int> run(Graph& graph, PassContext&) { return fuse_each(graph, fuse_at); }

}  // namespace

extern const Pass pass_fuse_silu;
const Pass pass_fuse_silu = {"fuse_silu", "x * Sigmoid(x) -> hasten.Silu(x)", run};

}  // namespace hasten
