// A model without the nodes that round or decide, so that differences can't grow there.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/exec/engine.h"
#include "engine/ir/graph.h"
#include "measure/timed.h"

namespace hasten {

/// The graph cut where it rounds or decides (ops/discontinuous.h) on floats that depend on the
/// elements of its inputs: such a node of the main block is gone, what it makes became an input of
/// the graph, and the floats that it reads became outputs.
struct CutGraph {
  Graph graph;
  std::vector<ValueId> fed;           // the inputs behind the model's own
  std::map<std::string, size_t> ops;  // how many nodes of each operator are gone
  size_t nodes() const;
};

/// `graph`: inferred. Nothing where there is nothing to cut, or nothing left to compare.
std::optional<CutGraph> cut_graph(const Graph& graph);

/// Inputs of a cut graph that keep their own elements.
struct FedSamples {
  std::vector<InputSet> sets;
  std::vector<std::vector<Tensor>> fed;  // what the sets' views behind the model's inputs read
};

/// What the uncut `graph` makes without any pass in place of the nodes that are gone: of the first
/// samples, as many as take `bytes` (outputs, of which three copies are made, included), at least
/// one. Errors: those of compiling and running.
Result<FedSamples> feed_samples(Context& context, const Graph& graph, const CutGraph& cut,
                                EngineOptions options, std::span<const InputSet> samples,
                                size_t bytes);

}  // namespace hasten
