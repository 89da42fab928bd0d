// Nodes that return their input as it is disappear.
//
//   %y = Identity(%x); Cast f32 -> f32; Dropout in inference; Transpose that moves nothing;
//   Reshape, Expand, Flatten to the very shape of their input; x * 1, x / 1, x - 0
//       ->   uses of %y read %x
//
// Only where the shapes are known to be equal. x + 0 stays (-0 + 0 is 0), as do x - x and x * 0
// (NaN, infinities). A signalling NaN stays one where the arithmetic would have quieted it.
#include <algorithm>
#include <numeric>

#include "engine/ops/op.h"
#include "engine/passes/pass.h"
#include "engine/passes/patterns.h"

namespace hasten {

namespace {

bool same_type(const Graph& graph, ValueId a, ValueId b) {
  const Value &x = graph.value(a), &y = graph.value(b);
  return x.dtype == y.dtype && x.dtype != DType::kNone && x.layout == y.layout;
}

bool is_neutral(const Rewriter& rewriter, const Node& node, size_t operand) {
  const ValueId id = node.inputs[operand];
  if (node.op == "Mul") return is_all(rewriter, id, 1);
  if (operand == 0) return false;
  if (node.op == "Div") return is_all(rewriter, id, 1);
  // x - (+0): the bits say that it isn't -0.
  const Tensor* t = rewriter.constant(id);
  return node.op == "Sub" && is_all(rewriter, id, 0) &&
         std::all_of(t->as<char>(), t->as<char>() + t->bytes(), [](char c) { return c == 0; });
}

/// The operand that arithmetic with neutral elements returns, or kNoValue.
ValueId kept_operand(const Rewriter& rewriter, const Node& node) {
  if (!node.domain.empty() || node.inputs.size() != 2 || node.outputs.size() != 1) return kNoValue;
  if (node.op != "Mul" && node.op != "Div" && node.op != "Sub") return kNoValue;
  for (size_t k = 0; k < 2; ++k) {
    const ValueId kept = node.inputs[k];
    if (same_type(rewriter.graph(), kept, node.outputs[0]) &&
        same_shape(rewriter.graph(), kept, node.outputs[0]) && is_neutral(rewriter, node, 1 - k)) {
      return kept;
    }
  }
  return kNoValue;
}

bool is_identity(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == kNoValue ||
      node.outputs.empty() || node.outputs[0] == kNoValue) {
    return false;
  }
  const ValueId in = node.inputs[0], out = node.outputs[0];
  const std::string& op = node.op;
  if (op == "Identity") return true;
  if (!same_type(graph, in, out)) return false;
  if (op == "Cast") return true;
  if (op == "Dropout") {
    return (node.outputs.size() < 2 || node.outputs[1] == kNoValue) && !node.has_input(2);
  }
  if (op == "Reshape" || op == "Expand" || op == "Flatten") return same_shape(graph, in, out);
  if (op == "Transpose") {
    std::vector<int64_t> perm = node.attr_ints("perm");
    std::vector<int64_t> still(perm.size());
    std::iota(still.begin(), still.end(), int64_t{0});
    return !perm.empty() && perm == still;
  }
  if (op == "Concat" || op == "Sum" || op == "Max" || op == "Min") return node.inputs.size() == 1;
  return false;
}

Result<int> run(Graph& graph, PassContext&) {
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    Rewriter rewriter(graph, block);
    int changes = 0;
    for (size_t i = 0; i < rewriter.size(); ++i) {
      const Node& node = rewriter.node(i);
      const ValueId kept = is_identity(graph, node) ? node.inputs[0] : kept_operand(rewriter, node);
      if (kept == kNoValue) continue;
      // An output of the model keeps its name. A branch may return any value that it sees.
      if (&block == &graph.main && rewriter.is_output(node.outputs[0])) continue;
      rewriter.replace_uses(node.outputs[0], kept);
      rewriter.remove(i);
      ++changes;
    }
    rewriter.sweep();
    return changes;
  });
}

}  // namespace

extern const Pass pass_remove_identities;
const Pass pass_remove_identities = {"remove_identities",
                                     "Identity(x), Cast to its own type, x * 1 -> x", run};

}  // namespace hasten
