#include "measure/bench.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "measure/pacer.h"
#include "measure/warmup.h"

namespace hasten {
namespace {

struct Sample {
  double ms;
  int group;
};

/// The runs without the warm-up of each shape.
struct Steady {
  std::vector<double> ms;
  int64_t warmup_runs = 0;
  bool ended = true;
  size_t groups = 0;
};

Steady without_warmup(const std::vector<Sample>& samples) {
  std::map<int, std::vector<double>> by_group;
  for (const Sample& sample : samples) by_group[sample.group].push_back(sample.ms);
  std::map<int, int64_t> skip;
  Steady steady;
  steady.groups = by_group.size();
  for (const auto& [group, values] : by_group) {
    const Warmup warmup = find_warmup(values);
    skip[group] = warmup.runs;
    steady.warmup_runs += warmup.runs;
    steady.ended = steady.ended && warmup.ended;
  }
  for (const Sample& sample : samples) {
    if (skip[sample.group]-- <= 0) steady.ms.push_back(sample.ms);
  }
  return steady;
}

void warn_about_shape(BenchResult& result, bool single_shape) {
  if (single_shape) {
    if (std::optional<Modes> modes = find_modes(result.samples_ms)) {
      result.warnings.push_back(
          {"bimodal",
           fmt::format(
               "two regimes: {:.0f} % of the runs take about {:.4g} ms, the others {:.4g} ms",
               100 * modes->high_share, modes->high, modes->low),
           "look for a neighbour on the machine, frequency changes or page placement; quote both "
           "figures, not their middle"});
    }
  }
  if (std::optional<Unsteady> change = find_unsteady(result.samples_ms)) {
    result.stationary = false;
    const bool step = change->kind == Unsteady::Kind::kChange;
    result.warnings.push_back(
        {"not stationary",
         fmt::format("the level {} from {:.4g} to {:.4g} ms{}", step ? "changed" : "drifted",
                     change->before, change->after,
                     step ? fmt::format(" at run {} of {}", change->at, result.n) : ""),
         "measure longer, and look for heat, frequency changes or other load that came and went"});
  }
}

/// CPU time of the process without that of measuring.
class CpuWatch {
 public:
  /// What the calling thread does in `f` doesn't count.
  template <class F>
  auto aside(const F& f) {
    const int64_t before = thread_cpu_ns();
    auto result = f();
    aside_ns_ += thread_cpu_ns() - before;
    return result;
  }
  double ms() const { return static_cast<double>(process_cpu_ns() - begin_ns_ - aside_ns_) * 1e-6; }

 private:
  int64_t begin_ns_ = process_cpu_ns(), aside_ns_ = 0;
};

}  // namespace

BenchResult figures(std::vector<double> samples_ms) {
  BenchResult result;
  result.samples_ms = std::move(samples_ms);
  result.n = static_cast<int64_t>(result.samples_ms.size());
  if (result.n == 0) return result;
  const std::vector<double> ascending = sorted(result.samples_ms);
  result.p50_ms = quantile_sorted(ascending, kP50);
  result.p50_interval = quantile_interval(ascending, kP50);
  result.p90_interval = quantile_interval(ascending, kP90);
  result.p99_interval = quantile_interval(ascending, kP99);
  if (result.p90_interval) result.p90_ms = quantile_sorted(ascending, kP90);
  if (result.p99_interval) result.p99_ms = quantile_sorted(ascending, kP99);
  result.mean_ms = mean(result.samples_ms);
  result.min_ms = ascending.front();
  result.max_ms = ascending.back();
  result.mad_ms = median_absolute_deviation(result.samples_ms);
  result.outliers = count_outliers(result.samples_ms);
  return result;
}

BenchResult summarize(std::vector<double> samples_ms, bool single_shape) {
  BenchResult result = figures(std::move(samples_ms));
  if (result.n == 0) return result;
  result.effective_n = effective_samples(result.samples_ms);
  warn_about_shape(result, single_shape);
  return result;
}

Result<BenchResult> bench(Timed& timed, const BenchOptions& options) {
  const MeasureControl& control = options.control;
  const double limit = options.runs > 0 && options.seconds <= 0 ? 1e18
                       : options.seconds > 0                    ? options.seconds
                                                                : 3;
  const int64_t target = std::max<int64_t>(options.runs, 1);
  const SystemSample before = read_system(options.proc_root);
  const int64_t begin = control.now();
  auto elapsed = [&] { return static_cast<double>(control.now() - begin) * 1e-9; };

  if (control.stopped()) return fail(Code::kCancelled, "interrupted before the first run");
  HASTEN_TRY(const double cold_ms, timed.run_once_ms());
  Pacer pacer(options.rate, control);
  CpuWatch cpu;
  std::vector<Sample> samples;
  Steady steady;
  // Steady runs that are still wanted; judging costs time, so it's done once they may be enough.
  int64_t wanted = options.runs > 0 ? target : options.min_runs;
  double next_progress = 0;
  while (!control.stopped()) {
    const double seconds = elapsed();
    if (control.progress && seconds >= next_progress) {
      const double by_runs = static_cast<double>(samples.size()) / static_cast<double>(target);
      control.progress({"measuring", static_cast<int64_t>(samples.size()), seconds,
                        std::min(1.0, options.runs > 0 ? by_runs : seconds / limit)});
      next_progress = seconds + 0.1;
    }
    const bool time_over = seconds >= limit;
    if (static_cast<int64_t>(samples.size()) >= wanted && (options.runs > 0 || time_over)) {
      steady = cpu.aside([&] { return without_warmup(samples); });
      const int64_t least = options.runs > 0 && !time_over ? target : options.min_runs;
      const int64_t missing = least - static_cast<int64_t>(steady.ms.size());
      if (missing <= 0) break;
      wanted = static_cast<int64_t>(samples.size()) + missing;
    }
    int64_t delay_ns = 0;
    if (options.rate > 0) {
      delay_ns = cpu.aside([&] { return pacer.wait(); });
      if (control.stopped()) break;
    }
    HASTEN_TRY(const double ms, timed.run_once_ms());
    samples.push_back({ms + static_cast<double>(delay_ns) * 1e-6, timed.shape_group()});
  }
  const double cpu_ms = cpu.ms();

  const bool interrupted = control.stopped();
  if (interrupted) steady = without_warmup(samples);
  if (steady.ms.empty()) steady.ms.push_back(cold_ms);  // interrupted at once: better than nothing
  // Runs that turned out to be more than asked for are the earliest ones' to give up.
  if (options.runs > 0 && static_cast<int64_t>(steady.ms.size()) > target) {
    const auto surplus = static_cast<int64_t>(steady.ms.size()) - target;
    steady.ms.erase(steady.ms.begin(), steady.ms.begin() + surplus);
    steady.warmup_runs += surplus;
  }
  BenchResult result = summarize(std::move(steady.ms), steady.groups <= 1);
  result.seconds = elapsed();
  result.cold_ms = cold_ms;
  result.load_ms = options.load_ms;
  result.warmup_runs = steady.warmup_runs;
  result.warmup_ended = steady.ended;
  result.interrupted = interrupted;
  if (!samples.empty()) result.cpu_ms = cpu_ms / static_cast<double>(samples.size());
  result.rate = options.rate;
  result.delayed_runs = pacer.delayed();
  result.rss_mb = resident_mb(options.proc_root);
  if (!steady.ended) {
    result.warnings.push_back({"still warming up",
                               fmt::format("the first {} runs were left out and hadn't reached the "
                                           "level of the later ones",
                                           steady.warmup_runs),
                               "measure longer (--seconds, --runs)"});
  }
  if (!result.p90_ms) {
    result.warnings.push_back(
        {"few samples",
         fmt::format("{} steady runs: P90 needs 36, P99 368 (max = {:.4g} ms)", result.n,
                     result.max_ms),
         "measure longer (--seconds, --runs)"});
  }
  if (10 * result.delayed_runs > static_cast<int64_t>(samples.size())) {
    result.warnings.push_back({"behind",
                               fmt::format("{} of {} runs were due before the one before was done",
                                           result.delayed_runs, samples.size()),
                               "the engine can't keep this rate: lower --rate"});
  }
  const SystemSample after = read_system(options.proc_root);
  if (after.throttling_known) result.nr_throttled = after.throttled_count - before.throttled_count;
  for (Warning& warning : disturbances(before, after)) {
    result.warnings.push_back(std::move(warning));
  }
  return result;
}

Result<BenchResult> bench(Runner& runner, std::span<const InputSet> sets,
                          const BenchOptions& options) {
  if (sets.empty()) return fail(Code::kInvalidArgument, "bench: no inputs to run on");
  TimedRunner timed(runner, sets);
  return bench(timed, options);
}

}  // namespace hasten
