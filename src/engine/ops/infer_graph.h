// Inference over whole graphs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/ops/op.h"

namespace hasten {

/// Runs one node on known elements; empty tensors stand for absent inputs.
using Evaluator = std::function<Result<std::vector<Tensor>>(const Node&, std::span<const Tensor>)>;

/// Elements that a value may have to be followed through inference.
constexpr int64_t kMaxKnownElements = 1024;

/// Facts of one node's outputs from those of its inputs (null or dtype kNone: absent); checks the
/// node. Where all inputs are known and small the outputs' elements are known too. Symbol codes in
/// int64 elements pass only through operators that move elements. Nodes with blocks: not here.
Status infer_node(const Node& node, std::span<const Facts* const> in, std::span<Facts> out,
                  const Evaluator& evaluate);

/// A node that can't run as it is: an operator, a dtype or the value of an attribute.
struct RefusedNode {
  const Node* node;
  std::string why;  // names the node
};

/// Writes dtype and shape of every value, of all blocks; returns what is known of each value, by
/// id, in `facts` if given. Inferred shapes replace declared ones. Outputs of nodes that can't run
/// (def == null), and what depends on them, stay as declared: such a model can still be looked at.
/// Of an If whose condition is known only that branch is visited. A null `evaluate` means the
/// references. With `refused`, nodes that are unsupported are listed there instead of being an
/// error, and what they make stays as declared. Errors: invalid_model or unsupported, naming the
/// node.
Status infer_graph(Graph& graph, const Evaluator& evaluate, std::vector<Facts>* facts = nullptr,
                   std::vector<RefusedNode>* refused = nullptr);

}  // namespace hasten
