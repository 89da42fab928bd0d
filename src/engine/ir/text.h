// Graphs as text, for people, tests and fuzzers.
#pragma once

#include <string>
#include <string_view>

#include "engine/ir/graph.h"

namespace hasten {

/// One line a value or node; constants of all blocks come first:
///   graph "name" opset {"": 17} ir 8
///   meta "author" = "me"
///   const %w: f32[2] = {1, 2}
///   in %x: f32[batch,3,8,8]
///   %y: f32[batch,?0,8,8] nchw16c, _ = Foo(%x, _, %w) {pads=[1,1], mode="a", t=f32[1]{2}} "conv1"
///   %z: f32[...] = custom.domain::Bar@2(%y) "if1"
///     then_branch:
///       in %i: f32[2]
///       out %i
///   out %y, %z
/// `_` is absent, `?[...]` nothing known, `?0` a dimension without a name. Names that are not plain
/// words are quoted: %"a b". A name that several values have gets a number: %x#1. The version of a
/// node stands behind @ where it isn't that of its domain. Empty lists: ints[], floats[],
/// strings[]. Floats have the fewest digits that give the same bits; other NaNs than the default:
/// nan(0x7fc00001). Constants of more than `inline_limit` elements are printed by their hash, and
/// then can't be parsed. Constants that nothing uses are left out.
std::string print_graph(const Graph& graph, int64_t inline_limit = 64);

/// The inverse: print_graph of the result is the same text. Nodes have def == null (see
/// ops/bind.h). Errors: invalid_argument, with the line.
Result<Graph> parse_graph(std::string_view text);

/// "{1, 2, 3}": up to `limit` elements of a tensor, then "…".
std::string tensor_text(const TensorView& tensor, int64_t limit);

}  // namespace hasten
