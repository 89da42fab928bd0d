// Latency of one model.
#pragma once

#include <optional>
#include <vector>

#include "measure/statistics.h"
#include "measure/system_watch.h"
#include "measure/timed.h"

namespace hasten {

struct BenchOptions {
  int64_t runs = 0;      // steady runs to measure; 0: as `seconds` says
  double seconds = 0;    // time to measure for; 0 with runs == 0: 3
  double rate = 0;       // runs a second, begun at even intervals; 0: one after the other
  int64_t min_runs = 7;  // steady runs at least, however long they take
  double load_ms = 0;    // what opening took (open_model); passed through
  MeasureControl control;
  std::string proc_root;  // "" is the real /proc
};

struct BenchResult {
  int64_t n = 0;  // steady runs: those that the figures are of
  double p50_ms = 0;
  std::optional<double> p90_ms, p99_ms;  // nothing from too few runs (36 and 368)
  std::optional<Interval> p50_interval, p90_interval, p99_interval;  // at 95 %
  /// CPU time of the process for one run, all threads, with what they burn while they wait for the
  /// next; the measuring itself left out. Nothing where it wasn't measured.
  std::optional<double> cpu_ms;
  double rate = 0;           // that was asked for; 0: none
  int64_t delayed_runs = 0;  // due before the one before was done: the wait is in their latency
  std::optional<int64_t> nr_throttled;  // by the cgroup's CPU quota meanwhile; nothing if unknown
  double mean_ms = 0, min_ms = 0, max_ms = 0, mad_ms = 0;
  double cold_ms = 0;  // the very first run
  double load_ms = 0;
  double rss_mb = 0;        // resident memory afterwards, in MiB
  int64_t warmup_runs = 0;  // left out, beside the cold one; each new shape warms up for itself
  bool warmup_ended = true;
  bool stationary = true;
  int64_t outliers = 0;
  double effective_n = 0;  // independent runs that n is worth
  double seconds = 0;      // that measuring took
  bool interrupted = false;
  std::vector<double> samples_ms;  // the steady runs in order of time
  std::vector<Warning> warnings;
};

/// Quantiles, intervals, mean and spread of given runs.
BenchResult figures(std::vector<double> samples_ms);

/// The same for runs in order of time that should be of one steady state, with the warnings that
/// their distribution deserves. `single_shape`: false suppresses the check for two modes, which
/// several shapes have by nature.
BenchResult summarize(std::vector<double> samples_ms, bool single_shape = true);

/// Measures until told enough. Warm-up is found afterwards, shape by shape, and left out; runs are
/// added until what remains is as many as asked for. When control.stop is set, returns what was
/// measured so far with `interrupted`; if that is nothing at all, the error `cancelled`.
/// Errors: those of the runs.
Result<BenchResult> bench(Timed& timed, const BenchOptions& options);

/// The same for a runner over input sets bound in turn. Errors: invalid_argument without a set.
Result<BenchResult> bench(Runner& runner, std::span<const InputSet> sets,
                          const BenchOptions& options);

}  // namespace hasten
