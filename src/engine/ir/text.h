// Graphs as text, for people, tests and fuzzers.
#pragma once

#include <string>
#include <string_view>

#include "engine/ir/graph.h"

namespace hasten {

/// One line a value or node:
///   graph "name" opset {"": 17}
///   in %x: f32[batch,3,8,8]
///   const %w: f32[2] = {1, 2}
///   %y: f32[batch,3,8,8] = Conv(%x, %w) {pads=[1,1,1,1]} "conv1"
///   out %y
/// Constants of more than `inline_limit` elements are printed by their hash, and then can't be parsed.
std::string print_graph(const Graph& graph, int64_t inline_limit = 64);

/// The inverse. Errors: invalid_argument, with the line.
Result<Graph> parse_graph(std::string_view text);

/// "{1, 2, 3}": up to `limit` elements of a tensor, then "…".
std::string tensor_text(const TensorView& tensor, int64_t limit);

}  // namespace hasten
