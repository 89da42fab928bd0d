// Checks a problem of a list against plain loops, and times it beside the peaks of the machine.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/passes/pass.h"
#include "measure/meter.h"
#include "measure/problem.h"
#include "measure/timed.h"

namespace hasten {

struct ProblemOptions {
  int threads = 1;
  double seconds = 0.2;     // of timing, for each problem; at least 7 runs
  bool exact_math = false;  // for all of them
  bool check_only = false;  // one run each, nothing timed
  uint64_t seed = 1;
  std::span<const Pass> passes =
      all_passes();  // others than the engine's, to test the check itself
  MeasureControl control;
};

/// What became of one problem. Times are those of the operator's steps: reorders before and behind
/// it, which its neighbours in a model would make unnecessary, are not among them.
struct ProblemResult {
  Problem problem;
  std::string kernel;      // of all its steps, joined by " + "
  bool reference = false;  // a step runs on plain loops
  double flops = 0, bytes = 0;

  // Against the operator's reference, unfused: max |difference| / max |output|, the worst output.
  double max_err = 0, allowed = 0;
  bool ok = true;
  std::string reason;  // why not ok, one line

  int64_t runs = 0;                // 0: not timed
  double min_ms = 0, p50_ms = 0;   // hot: the same memory again and again
  std::optional<double> cold_ms;   // median; inputs fresh, all else out of the caches before each
  double gflops = 0, gbps = 0;     // of min_ms
  double peak_gflops = 0;          // of the kernel's arithmetic, best of trials between the runs
  std::optional<double> peak_pct;  // 100 gflops / peak_gflops; Winograd may exceed 100
  std::optional<double> roof_pct;  // as a profile's: of the least time that the peaks allow
  std::string bound;               // "compute", "L2", "L3", "DRAM", "overhead"
};

/// The largest error that passes, of the largest |output|: 0 for integers, 3e-5 for Winograd
/// (docs/numerics.md), else 1e-5: sums of thousands of products in f32.
double default_tolerance(const std::string& kernel, bool integers);

/// Keeps what the problems share: buffers that are read to measure peaks and to empty caches.
class ProblemBench {
 public:
  ProblemBench(Context& context, ProblemOptions options);
  /// Errors: those of building, compiling and running it, naming file and line; unsupported for
  /// what takes no step; cancelled when stopped before it was timed. An answer that is off is no
  /// error: see ok.
  Result<ProblemResult> run(const Problem& problem);

 private:
  struct Case;
  Status check(Case& c);
  Status time(Case& c);
  Status time_hot(Case& c);
  Status time_cold(Case& c);
  Result<const ReadBuffer*> buffer(int64_t bytes);

  Context& context_;
  ProblemOptions options_;
  Meter meter_;
  std::vector<std::unique_ptr<ReadBuffer>> buffers_;
};

}  // namespace hasten
