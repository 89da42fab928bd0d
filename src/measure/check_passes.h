// Translation check: every pass on and off on the same inputs, so that the one that changes an
// answer is named.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "measure/timed.h"

namespace hasten {

/// One pass. Errors are max |difference| of an output over its largest |value|, the worst of all
/// samples and outputs; infinite where one has a NaN that the other has not.
struct PassCheck {
  std::string name;
  int changes = 0;     // places rewritten, after all passes before it
  double max_err = 0;  // the passes before it against those and this one
  /// All passes but this one against none; only where each kept its bound so far.
  std::optional<double> without;
  double allowed = 0;  // of max_err: ten times the bound for each place; 0: the same bits
  double allowed_without = 0;
  bool ok = true;
  std::string reason;  // why not ok
};

struct CheckResult {
  std::vector<PassCheck> passes;  // in the order in which they run
  size_t samples = 0;
  bool interrupted = false;  // passes holds what was checked until then
  bool ok() const;
};

/// Compiles the graph with growing prefixes of the passes, and with all but each, and compares
/// outputs. `options.disabled_passes` stay off. Errors: those of compiling and running without any
/// pass; that a pass makes a model fail is a result.
Result<CheckResult> check_passes(Context& context, const Graph& graph, EngineOptions options,
                                 std::span<const InputSet> samples, const MeasureControl& control);

}  // namespace hasten
