// Rewrites of the symbolic graph.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "engine/ir/graph.h"
#include "engine/ir/load_limits.h"
#include "engine/ops/infer_graph.h"

namespace hasten {

/// What a pass may use.
struct PassContext {
  /// Runs one node on the kernels of run time, so that folded bits equal run-time bits.
  Evaluator evaluate;
  bool exact_math = false;
  LoadLimits limits;
  LoadClock clock;  // of limits.seconds
  LogSink* log = &silent_log();
};

/// One rewrite. `run` changes the graph and returns how many places it changed; afterwards the
/// graph verifies and its outputs are the same (bit by bit, or within the bound that its top
/// comment states).
struct Pass {
  const char* name;  // "fold_constants", as in --disable-pass
  const char* doc;   // one line: before -> after
  Result<int> (*run)(Graph&, PassContext&);
  /// How far one changed place may move the values behind it, as a part of their scale; 0: not a
  /// bit. `hasten check` holds the pass to it.
  double bound = 0;
};

/// All passes in the order in which they run.
std::span<const Pass> all_passes();

/// What a pass did in one pipeline run.
struct PassReport {
  std::string name;
  int changes = 0;
  double ms = 0;
};

/// Runs the pipeline, or other passes; inference and verify() follow each pass that changed
/// something. Errors: those of a pass; invalid_argument for an unknown name in `disabled`;
/// internal, naming the pass, when the graph doesn't verify after it.
Result<std::vector<PassReport>> run_passes(Graph& graph, PassContext& context,
                                           const std::set<std::string>& disabled = {},
                                           std::span<const Pass> passes = all_passes());

}  // namespace hasten
