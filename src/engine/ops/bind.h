// Joins nodes with what we know of their operators.
#pragma once

#include "engine/ops/op.h"

namespace hasten {

/// Sets node.def by domain, op and version: null if the operator is unknown or the node has an
/// attribute (or block) that the operator's row doesn't list; so such a node can't run.
/// Errors: invalid_model for a count of inputs or outputs that the operator doesn't allow, or a
/// missing required input.
Status bind_node(Node& node);

/// bind_node for all nodes, blocks included. Nodes of version 0 get the opset of their domain.
Status bind_graph(Graph& graph);

/// Has the node, or have all nodes of a block and of the blocks in it, an operator? Error:
/// unsupported, naming the first that has none.
Status check_bound(const Node& node);
Status check_bound(const Block& block);

}  // namespace hasten
