// Which operators round, compare or pick: where their results jump.
#pragma once

#include "engine/ir/graph.h"

namespace hasten {

/// May a change of this input, however small, move what the node makes by much? So it is with
/// floats that are rounded (to integers, to a narrower float), compared, sorted, or held against a
/// threshold at which the function jumps: a difference in the last place becomes a large one, or
/// none at all. dtypes of the graph's values must be known. Nodes with blocks are not looked into.
bool decides_on(const Graph& graph, const Node& node, size_t input);

}  // namespace hasten
