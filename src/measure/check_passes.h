// Translation check: every pass on and off on the same inputs, so that the one that changes an
// answer is named.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/passes/pass.h"
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
  bool fails = false;  // with it, or without it, the model doesn't compile or run at all
  std::string reason;  // why not ok
  /// Of a model that was cut (see CheckResult::cut): max_err of the model as it is.
  std::optional<double> behind_rounding;
};

/// Where a model rounds or decides, it makes a difference of 1e-7 one of some per cent, or another
/// answer altogether, and no rewrite is to blame. So one in which a pass breaks its bound is
/// checked again with those nodes cut out (measure/cut_graph.h): every stretch between them gets
/// the same inputs, and the passes are held to their bounds on what it makes.
struct CutCheck {
  std::map<std::string, size_t> ops;  // how many nodes of each operator were cut out
  size_t nodes = 0;                   // of all of them
  size_t samples = 0;                 // that were checked between them
  double max_err = 0;                 // of the outputs of the model as it is, by any pass
};

struct CheckResult {
  std::vector<PassCheck> passes;  // in the order in which they run
  size_t planned = 0;             // how many passes there are to check
  size_t samples = 0;
  std::optional<CutCheck> cut;  // `passes` then holds what was found between the roundings
  bool interrupted = false;     // before all was checked: passes holds what was until then
  /// Is no pass to blame, as far as they were checked?
  bool ok() const;
  /// ok(), once that is known: nothing where an interruption left passes, or roundings that may
  /// excuse one, unchecked.
  std::optional<bool> verdict() const;
};

/// Compiles the graph with growing prefixes of the passes, and with all but each, and compares
/// outputs. `options.disabled_passes` stay off. `passes`: others than the engine's, to test the
/// check itself. A pass whose bound is 0 must keep every bit of the model as it is, cut or not.
/// Errors: those of compiling and running without any pass; that a pass makes a model fail is a
/// result.
Result<CheckResult> check_passes(Context& context, const Graph& graph, const EngineOptions& options,
                                 std::span<const InputSet> samples, const MeasureControl& control,
                                 std::span<const Pass> passes = all_passes());

}  // namespace hasten
