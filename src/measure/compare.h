// Is B faster than A?
#pragma once

#include <string>
#include <vector>

#include "measure/bench.h"
#include "measure/diff_outputs.h"
#include "measure/timed.h"

namespace hasten {

struct CompareOptions {
  double seconds = 30;   // at most; less when the answer is clear
  double alpha = 0.01;   // chance that the interval misses
  double margin = 0.01;  // an interval around 1 inside [1 - margin, 1 + margin] means "same"
  int min_rounds = 6;
  int max_rounds = 5000;
  uint64_t seed = 0;  // of the random orders; 0: drawn
  MeasureControl control;
  std::function<void()> rest;  // between bursts; empty: wait_until_idle
  std::string proc_root;
  const struct Comparison* so_far = nullptr;  // goes on with this one: its rounds count too
};

enum class Verdict { kFaster, kSlower, kSame, kUnsure };
const char* verdict_name(Verdict verdict);  // "faster", "slower", "same", "unsure"

struct Comparison {
  BenchResult a, b;    // of all rounds; cold_ms and load_ms are medians over the instances
  double speedup = 1;  // median time of A / of B, geometric mean over rounds: > 1 means B is faster
  Interval ci{0, 0};   // of the speedup, at 1 - alpha; [0, infinity] while too few rounds
  double alpha = 0.01, margin = 0.01;
  Verdict verdict = Verdict::kUnsure;
  std::string why;                     // the verdict in words
  std::optional<double> more_seconds;  // where unsure: how much longer it would take to decide, if
                                       // speedup and spread stay; nothing if that is over an hour
  int64_t rounds = 0;
  std::vector<double> log_ratios;  // one per round
  int64_t runs_per_burst = 0, bursts_per_round = 0, warmup_runs = 0;
  double seconds = 0;
  uint64_t seed = 0;
  bool interrupted = false;
  OutputDiff outputs;  // for the caller to fill
  std::vector<Warning> warnings;
};

/// Compares two models, each opened again in every round.
///
/// Two instances of one model differ lastingly, by where their memory fell, so the unit of the
/// statistics is a round of fresh instances, not a run. In a round both sides are opened in random
/// order, warmed up, and run in short bursts that alternate in random order (drift, and whatever
/// disturbs every other moment, then hits both alike); before each burst it waits until the other
/// side's threads sleep. The round's value is the median over pairs of bursts of log(A / B). The
/// interval over rounds is a confidence sequence: it may be looked at after every round, which is
/// how an early end keeps its error rate (mean_interval).
///
/// It ends when the interval excludes 1 and is either within 1 % or a third of the effect; when it
/// lies inside the margin around 1; when time is over; or when control.stop is set, then with
/// `interrupted` (without a single round: the error `cancelled`). An undecided comparison can be
/// gone on with (`so_far`), which the interval allows: the same alpha and margin then hold.
/// Errors: those of opening and running.
Result<Comparison> compare(const OpenInstance& a, const OpenInstance& b,
                           const CompareOptions& options);

/// The comparison for people, several lines.
std::string text(const Comparison& comparison);

}  // namespace hasten
