// Graphs made of bytes, in the forms that exporters write and passes look for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/exec/native.h"

namespace hasten::fuzz {

/// The text of a graph over one image [N,C,H,W], rows [N,C] or sequences [N,T,C] of f32, and the
/// elements of that input.
struct RandomGraph {
  std::string text;
  std::vector<float> input;
  Dims dims;
};

/// Any bytes give a graph that compiles and runs.
RandomGraph random_graph(const uint8_t* data, size_t size);

/// The text as a graph with its operators; aborts where the generator made a wrong one.
Graph graph_of(const RandomGraph& g);

/// The elements of all outputs, one output after the other. Aborts where an engine refuses.
std::vector<float> run(Context& context, const RandomGraph& g, const EngineOptions& options);

}  // namespace hasten::fuzz
