// The first node at which two engines, or two models, compute something else.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/exec/engine.h"
#include "engine/ir/graph.h"
#include "measure/timed.h"

namespace hasten {

/// A value inside a model, and how far two sides are apart there.
struct ValueDiff {
  std::string node, op, value;
  double max_abs = 0, max_rel = 0;  // as OutputDiff: worst of all samples
  std::string reason;               // where they can't be compared: dtypes or dims
};

struct ValueDiffs {
  size_t compared = 0;               // values that both sides have; 0 where no sample was run
  size_t samples = 0;                // that were run
  bool interrupted = false;          // before all samples were
  std::vector<ValueDiff> different;  // beyond the tolerance, in the order of A's nodes
  double worst_rel = 0;              // of all compared
};

/// A model whose inner values are to be looked at.
struct TappedModel {
  std::string path;  // of the .onnx file
  EngineOptions options;
  Graph graph;  // as loaded
};

/// Runs both on the same samples (inputs in each side's order of its main graph) with all inner
/// values as outputs, which keeps passes from fusing across them: our engine runs the graph as the
/// file has it. Errors: those of opening and running; unsupported for a peer's model with external
/// data.
Result<ValueDiffs> diff_values(Context& context, const TappedModel& a, const TappedModel& b,
                               std::span<const InputSet> sets_a, std::span<const InputSet> sets_b,
                               double tolerance, const MeasureControl& control);

}  // namespace hasten
