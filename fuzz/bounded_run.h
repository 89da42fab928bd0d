// Runs of what nobody vouches for: models that fuzzers made, within bounds of work and memory.
#pragma once

#include "engine/exec/engine.h"
#include "engine/ir/graph.h"

namespace hasten::fuzz {

constexpr int64_t kMaxBytes = int64_t{1} << 20;  // of an input, and of all a run takes

/// False for what may take long without anything being wrong: large windows over large tensors;
/// of loops nothing is known.
bool ends_soon(Graph graph);

/// One run on inputs of zeros, where the ports say what they are and they are small. Errors are
/// answers too.
void run_on_zeros(Engine& engine);

}  // namespace hasten::fuzz
