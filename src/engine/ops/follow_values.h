// Known elements through a node: what infer_node does once the shapes are there.
#pragma once

#include "engine/ops/infer_graph.h"

namespace hasten {

/// Fills in out[i].value (and shapes that depend on it) where all inputs are known and small.
/// Errors: those of the evaluation, where it ran on real elements.
Status follow_values(const Node& node, std::span<const Facts* const> in, std::span<Facts> out,
                     const Evaluator& evaluate);

}  // namespace hasten
