// HardSwish as exporters write it.
//
//   %s = HardSigmoid(%x) {alpha=1/6, beta=1/2}; %y = Mul(%x, %s)
//   %a = Add(%x, 3); %c = Clip(%a, 0, 6); %m = Mul(%x, %c); %y = Div(%m, 6)
//       ->   %y = HardSwish(%x)
//
// The product in any order, f32, where nobody else reads what lies between. The first form keeps
// its bits; of the second, outputs agree within 1e-6 of max(1, |y|), and x beyond the largest
// float / 6 doesn't overflow any more.
#include <cmath>

#include "engine/passes/pass.h"
#include "engine/passes/patterns.h"

namespace hasten {

namespace {

bool is_hard_sigmoid(const Node& node) {
  return node.attr_float("alpha", 0.2f) == 1.0f / 6.0f && node.attr_float("beta", 0.5f) == 0.5f;
}

/// The x of Clip(x + 3, 0, 6), and the Add; kNoValue where it is something else.
ValueId match_relu6(const Rewriter& rewriter, const Node& clip, size_t* add_at) {
  const auto activation = match_activation(rewriter, clip);
  if (!activation || activation->name != "clip" ||
      activation->params != std::vector<float>{0.0f, 6.0f}) {
    return kNoValue;
  }
  const int at = producer_of(rewriter, clip.inputs[0], "Add");
  if (at < 0) return kNoValue;
  *add_at = static_cast<size_t>(at);
  const Node& add = rewriter.node(*add_at);
  for (ValueId three : add.inputs) {
    if (is_number(rewriter, three, 3)) return other_input(add, three);
  }
  return kNoValue;
}

bool fuse_at(Rewriter& rewriter, size_t root) {
  Product product = match_product(rewriter, root);
  if (product.factors.size() != 2) return false;
  const Node& top = rewriter.node(root);
  for (size_t k = 0; k < 2; ++k) {
    const ValueId x = product.factors[k], gate = product.factors[1 - k];
    if (rewriter.value(x).dtype != DType::kF32 ||
        !same_shape(rewriter.graph(), x, top.outputs[0])) {
      continue;
    }
    std::vector<size_t> nodes = product.nodes;
    if (const int at = producer_of(rewriter, gate, "HardSigmoid"); at >= 0) {
      const Node& sigmoid = rewriter.node(static_cast<size_t>(at));
      if (product.constant != 1 || sigmoid.inputs[0] != x || !is_hard_sigmoid(sigmoid)) continue;
      nodes.push_back(static_cast<size_t>(at));
    } else if (const int clip = producer_of(rewriter, gate, "Clip"); clip >= 0) {
      size_t add = 0;
      if (!(std::abs(product.constant * 6 - 1) <= 1e-6) ||
          match_relu6(rewriter, rewriter.node(static_cast<size_t>(clip)), &add) != x) {
        continue;
      }
      nodes.push_back(static_cast<size_t>(clip));
      nodes.push_back(add);
    } else {
      continue;
    }
    return replace_nodes(rewriter, nodes, onnx_node(top, "HardSwish", 14, {x}));
  }
  return false;
}

Result<int> run(Graph& graph, PassContext&) { return fuse_each(graph, fuse_at); }

}  // namespace

extern const Pass pass_fuse_hard_swish;
const Pass pass_fuse_hard_swish = {
    "fuse_hard_swish", "x * HardSigmoid(x), x * Clip(x + 3, 0, 6) / 6 -> HardSwish(x)", run, 1e-6};

}  // namespace hasten
