// How much work a graph is, counted without running it.
#pragma once

#include <string>

#include "engine/ir/graph.h"

namespace hasten {

struct GraphCost {
  /// 2 per multiply-add of convolutions, matrix products and recurrent layers; nothing else counts.
  double flops = 0;
  /// What every operator reads and writes, weights included, views (Reshape …) excluded.
  double bytes = 0;
  int64_t unknown = 0;  // operators left out because a shape of theirs is not known
};

/// Of a graph whose shapes are numbers (see infer_graph). Of the branches of an If, the costlier
/// one.
GraphCost graph_cost(const Graph& graph);

/// Operators by name, those of subgraphs included, and the elements and bytes of all constants.
struct GraphContents {
  std::map<std::string, int64_t> ops;
  int64_t nodes = 0, params = 0;
  double weight_bytes = 0;
};
GraphContents graph_contents(const Graph& graph);

}  // namespace hasten
