// Loop, Scan and SequenceMap: nodes that run their body again and again.
#pragma once

#include <span>
#include <vector>

#include "engine/exec/block_runner.h"

namespace hasten {

/// One execution of such a node. `in`: its inputs, absent ones empty; `captured`: what its body
/// reads of the blocks around it. Returns its outputs. Errors: those of the body; invalid_argument
/// where steps of a scan output differ in shape or a limit would be passed.
struct LoopCall {
  const Node& node;
  const Graph& graph;
  const Block& body;
  BlockRunner& runner;
  std::span<const TensorView> in;
  std::span<const TensorView> captured;
  int64_t memory_limit = 0;  // bytes of collected outputs; 0: none
  Observer* observer = nullptr;
};
Result<std::vector<Tensor>> run_loop(const LoopCall& call);

}  // namespace hasten
