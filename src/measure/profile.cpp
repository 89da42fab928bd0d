#include "measure/profile.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "measure/statistics.h"
#include "measure/warmup.h"

namespace hasten {
namespace {

constexpr int64_t kLeastRuns = 7;

double median_or_0(const std::vector<double>& values) {
  return values.empty() ? 0 : median(values);
}

OpProfile summarize(const StepCollector::Step& step, int64_t runs) {
  OpProfile op;
  op.name = step.info.name;
  op.op = step.info.op;
  op.kernel = step.info.kernel;
  op.inputs = step.info.inputs;
  op.outputs = step.info.outputs;
  op.reference = step.info.reference;
  const std::vector<double> ascending = sorted(step.ms);
  op.ms = median(ascending);
  op.min_ms = ascending.front();
  if (quantile_interval(ascending, kP99)) op.p99_ms = quantile_sorted(ascending, kP99);
  op.calls = static_cast<double>(step.calls) / static_cast<double>(runs);
  // Work of the runs in which it ran.
  const double calls = static_cast<double>(step.calls) / static_cast<double>(step.ms.size());
  op.flops = step.info.flops * calls;
  op.bytes = step.info.bytes * calls;
  return op;
}

/// Runs until warm; the first run's time and how many runs a shape takes to settle.
Status warm_up(TimedRunner& timed, const ProfileOptions& options, double& first_ms) {
  HASTEN_TRY(first_ms, timed.run_once_ms());
  std::vector<double> runs;
  const int64_t begin = options.control.now();
  const double limit = std::max(0.2, options.seconds / 4);
  while (!options.control.stopped()) {
    const double seconds = static_cast<double>(options.control.now() - begin) * 1e-9;
    if (runs.size() >= 3 && seconds >= limit / 4 && (seconds >= limit || find_warmup(runs).ended)) {
      break;
    }
    HASTEN_TRY(const double ms, timed.run_once_ms());
    runs.push_back(ms);
  }
  return {};
}

}  // namespace

void StepCollector::run_begin(int64_t) {
  at_ = 0;
  sum_ns_ = 0;
}

size_t StepCollector::find(const StepInfo& step) {
  // Steps come in the same order run after run.
  if (at_ < order_.size() && order_[at_].first == &step) return order_[at_++].second;
  const auto [known, unknown] = by_info_.try_emplace(&step, steps_.size());
  if (unknown) {
    // The same step of the plan for another shape has another StepInfo.
    const auto same = std::find_if(steps_.begin(), steps_.end(), [&](const Step& s) {
      return s.info.name == step.name && s.info.op == step.op;
    });
    known->second = static_cast<size_t>(same - steps_.begin());
    if (same == steps_.end()) {
      steps_.emplace_back().info = step;
      steps_.back().ms.reserve(1024);
    }
  }
  order_.resize(at_);
  order_.push_back({&step, known->second});
  ++at_;
  return known->second;
}

void StepCollector::step(const StepInfo& step, int64_t begin_ns, int64_t end_ns) {
  Step& entry = steps_[find(step)];
  entry.current_ns += end_ns - begin_ns;
  entry.ran = true;
  ++entry.calls;
  sum_ns_ += end_ns - begin_ns;
}

void StepCollector::run_end(int64_t) {
  ++runs_;
  for (Step& step : steps_) {
    if (step.ran) step.ms.push_back(static_cast<double>(step.current_ns) * 1e-6);
    step.current_ns = 0;
    step.ran = false;
  }
}

void StepCollector::forget() {
  runs_ = 0;
  for (Step& step : steps_) {
    step.ms.clear();
    step.calls = 0;
  }
}

Result<Profile> profile(Runner& runner, std::span<const InputSet> sets,
                        const ProfileOptions& options) {
  if (sets.empty()) return fail(Code::kInvalidArgument, "profile: no inputs to run on");
  const MeasureControl& control = options.control;
  Profile profile;
  profile.threads = options.threads;
  const SystemSample before = read_system(options.proc_root);
  TimedRunner timed(runner, sets);
  HASTEN_CHECK(warm_up(timed, options, profile.first_ms));

  StepCollector collector;
  std::vector<double> walls, rests, plain;
  auto observed = [&](const InputSet& inputs) -> Status {
    if (sets.size() > 1) HASTEN_CHECK(runner.bind(inputs));
    const int64_t begin = now_ns();
    HASTEN_CHECK(runner.run(&collector));
    const int64_t wall = now_ns() - begin;
    walls.push_back(static_cast<double>(wall) * 1e-6);
    rests.push_back(static_cast<double>(wall - collector.last_sum_ns()) * 1e-6);
    return {};
  };
  // The first observed runs make the collector's own memory.
  for (int i = 0; i < 2; ++i) HASTEN_CHECK(observed(sets[0]));
  collector.forget();
  walls.clear();
  rests.clear();

  const int64_t begin = control.now();
  const int64_t least = std::max(options.runs, options.runs > 0 ? 1 : kLeastRuns);
  while (!control.stopped()) {
    const double seconds = static_cast<double>(control.now() - begin) * 1e-9;
    const auto runs = static_cast<int64_t>(walls.size());
    if (runs >= least && (options.runs > 0 || seconds >= options.seconds)) break;
    if (control.progress) {
      control.progress(
          {"profiling", runs, seconds,
           std::min(1.0, options.runs > 0 ? static_cast<double>(runs) / static_cast<double>(least)
                                          : seconds / options.seconds)});
    }
    HASTEN_CHECK(observed(sets[walls.size() % sets.size()]));
    HASTEN_TRY(const double ms, timed.run_once_ms());
    plain.push_back(ms);
  }
  profile.interrupted = control.stopped();
  if (walls.empty()) return fail(Code::kCancelled, "interrupted before a run was observed");
  if (collector.steps().empty() && options.steps_needed) {
    return fail(Code::kUnsupported,
                "this engine doesn't show its steps; profile with engine=native, or bench it");
  }

  profile.runs = collector.runs();
  profile.wall_ms = median(walls);
  profile.plain_wall_ms = median_or_0(plain);
  profile.unattributed_ms = std::max(0.0, median(rests));
  if (collector.steps().empty()) return profile;
  double sum = profile.unattributed_ms;
  for (const StepCollector::Step& step : collector.steps()) {
    if (step.ms.empty()) continue;  // only in the warm-up
    profile.ops.push_back(summarize(step, collector.runs()));
    sum += profile.ops.back().ms;
  }
  for (OpProfile& op : profile.ops) {
    op.share = sum > 0 ? op.ms / sum : 0;
    op.gflops = op.ms > 0 ? op.flops / op.ms * 1e-6 : 0;
    op.gbps = op.ms > 0 ? op.bytes / op.ms * 1e-6 : 0;
    if (options.machine != nullptr) apply_roof(op, *options.machine, options.threads);
  }
  profile.findings = find_causes(profile, options.machine);
  profile.warnings = disturbances(before, read_system(options.proc_root));
  return profile;
}

Peak Machine::*compute_peak(std::string_view kernel) {
  const auto named = [&](const char* part) { return kernel.find(part) != kernel.npos; };
  if (named("_s8") || named("_u8") || named("_i8") || named("int8") || named("_s32"))
    return &Machine::int8;
  return named("bf16") ? &Machine::bf16 : &Machine::fp32;
}

MemoryLevel memory_level(double bytes, const Machine& machine, int threads) {
  const double l2 = static_cast<double>(machine.cpu.l2_bytes) * threads;
  const double l3 = static_cast<double>(machine.cpu.l3_bytes);
  const auto known = [&](const Peak& peak) {
    return peak_for(peak, threads, machine.threads).has_value();
  };
  if (bytes <= l2 && known(machine.l2)) return {"L2", &Machine::l2};
  if (bytes <= l3 && known(machine.l3)) return {"L3", &Machine::l3};
  return {"DRAM", &Machine::dram};
}

void apply_roof(OpProfile& op, const Machine& machine, int threads) {
  auto of = [&](const Peak& peak) { return peak_for(peak, threads, machine.threads); };
  const std::optional<double> compute = of(machine.*compute_peak(op.kernel));

  // A step's calls are apart: each works on its own share of the bytes.
  const MemoryLevel level = memory_level(op.bytes / std::max(op.calls, 1.0), machine, threads);
  const std::optional<double> bandwidth = of(machine.*level.peak);
  if ((op.flops > 0 && !compute) || (op.bytes > 0 && !bandwidth)) return;

  const double compute_ms = op.flops > 0 ? op.flops / *compute * 1e-6 : 0;
  const double memory_ms = op.bytes > 0 ? op.bytes / *bandwidth * 1e-6 : 0;
  op.roof_ms = std::max(compute_ms, memory_ms);
  op.roof_pct = op.ms > 0 ? 100 * *op.roof_ms / op.ms : 100;
  const double call_ms = op.ms / std::max(op.calls, 1.0);
  if (*op.roof_ms == 0 || (call_ms < 0.02 && op.ms > 5 * *op.roof_ms)) {
    op.bound = "overhead";
  } else {
    op.bound = compute_ms >= memory_ms ? "compute" : level.name;
  }
}

ProfileDiff diff(const Profile& a, const Profile& b) {
  ProfileDiff diff;
  diff.a_wall_ms = a.wall_ms;
  diff.b_wall_ms = b.wall_ms;
  diff.a_has_steps = !a.ops.empty();
  diff.b_has_steps = !b.ops.empty();
  auto row = [&](const std::string& op) -> OpTypeDiff& {
    for (OpTypeDiff& r : diff.ops) {
      if (r.op == op) return r;
    }
    return diff.ops.emplace_back(OpTypeDiff{op, 0, 0, 0, 0});
  };
  for (const OpProfile& op : a.ops) {
    ++row(op.op).a_count;
    row(op.op).a_ms += op.ms;
  }
  for (const OpProfile& op : b.ops) {
    ++row(op.op).b_count;
    row(op.op).b_ms += op.ms;
  }
  row("(unattributed)").a_ms = a.unattributed_ms;
  row("(unattributed)").b_ms = b.unattributed_ms;
  std::stable_sort(diff.ops.begin(), diff.ops.end(), [](const OpTypeDiff& x, const OpTypeDiff& y) {
    return std::fabs(x.b_ms - x.a_ms) > std::fabs(y.b_ms - y.a_ms);
  });
  return diff;
}

}  // namespace hasten
