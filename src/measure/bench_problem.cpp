#include "measure/bench_problem.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "engine/exec/native.h"
#include "measure/diff_outputs.h"
#include "measure/profile.h"
#include "measure/statistics.h"

namespace hasten {
namespace {

constexpr double kTrialSeconds = 0.001;  // of a peak, between bursts of runs
constexpr double kBurstMs = 5;
constexpr int64_t kLeastRuns = 7;

/// Sums the time of an operator's steps, without the reorders around it.
class StepsOfOperator : public Observer {
 public:
  void run_begin(int64_t) override { ns_ = 0; }
  void step(const StepInfo& step, int64_t begin_ns, int64_t end_ns) override {
    if (!is_around(step)) ns_ += end_ns - begin_ns;
  }
  void run_end(int64_t) override {}
  double ms() const { return static_cast<double>(ns_) * 1e-6; }

  static bool is_around(const StepInfo& step) {
    return step.op == "Reorder" && step.name.ends_with(".reorder");
  }

 private:
  int64_t ns_ = 0;
};

/// Reads inputs, as if somebody had just written them.
void touch(std::span<const Tensor> tensors) {
  uint64_t sum = 0;
  for (const Tensor& t : tensors) {
    const auto* bytes = static_cast<const unsigned char*>(t.data());
    for (size_t i = 0; i < t.bytes(); i += 64) sum += bytes[i];
  }
  [[maybe_unused]] volatile uint64_t sink = sum;
}

}  // namespace

double default_tolerance(const std::string& kernel, bool integers) {
  if (integers) return 0;
  return kernel.find("winograd") != kernel.npos ? 3e-5 : 1e-5;
}

struct ProblemBench::Case {
  ProblemResult result;
  std::unique_ptr<NativeEngine> engine;
  std::unique_ptr<Runner> runner;
  std::vector<Tensor> inputs;

  std::vector<TensorView> views() const {
    std::vector<TensorView> out;
    for (const Tensor& t : inputs) out.push_back(t.view());
    return out;
  }
  Result<double> run_ms() {
    StepsOfOperator steps;
    HASTEN_CHECK(runner->run(&steps));
    return steps.ms();
  }
};

ProblemBench::ProblemBench(Context& context, ProblemOptions options)
    : context_(context),
      options_(std::move(options)),
      meter_(context, options_.control, kTrialSeconds) {}

Result<const ReadBuffer*> ProblemBench::buffer(int64_t bytes) {
  for (const auto& known : buffers_)
    if (known->bytes() == bytes) return known.get();
  auto made = std::make_unique<ReadBuffer>(bytes);
  if (made->data() == nullptr)
    return fail(Code::kOutOfMemory, "no memory for a buffer of {} bytes to read", bytes);
  return buffers_.emplace_back(std::move(made)).get();
}

Status ProblemBench::check(Case& c) {
  ProblemResult& r = c.result;
  EngineOptions options;
  options.threads = options_.threads;
  if (r.problem.exact_math || options_.exact_math) options.math = MathMode::kExact;
  HASTEN_TRY(BuiltProblem plain, build_problem(r.problem, true, options_.seed));
  HASTEN_TRY(BuiltProblem built, build_problem(r.problem, false, options_.seed));
  c.inputs = std::move(built.inputs);

  EngineOptions oracle_options = options;
  oracle_options.reference_only = true;
  oracle_options.enable_passes = false;
  HASTEN_TRY(auto oracle, NativeEngine::compile(context_, std::move(plain.graph), oracle_options));
  HASTEN_TRY(auto oracle_runner, oracle->make_runner());
  HASTEN_CHECK(oracle_runner->bind(c.views()));
  HASTEN_CHECK(oracle_runner->run());

  // Layouts that a line asks for are in its graph already.
  if (r.problem.blocked || r.problem.op == "hasten::Reorder")
    options.disabled_passes.push_back("place_layouts");
  HASTEN_TRY(c.engine,
             NativeEngine::compile(context_, std::move(built.graph), options, {}, options_.passes));
  HASTEN_TRY(c.runner, c.engine->make_runner());
  HASTEN_CHECK(c.runner->bind(c.views()));
  HASTEN_CHECK(c.runner->run());

  bool integers = true;
  for (const StepInfo& step : c.engine->steps(*c.runner)) {
    if (StepsOfOperator::is_around(step)) continue;
    r.kernel += (r.kernel.empty() ? "" : " + ") + step.kernel;
    r.reference = r.reference || step.reference;
    r.flops += step.flops;
    r.bytes += step.bytes;
  }
  if (r.kernel.empty()) {
    return fail(Code::kUnsupported,
                "{} takes no step of its own that could be timed (a view, a constant, or shapes "
                "that depend on elements); take the line out",
                r.problem.op);
  }
  for (const TensorView& view : c.runner->outputs()) integers = integers && !is_float(view.dtype);
  r.allowed = r.problem.tolerance.value_or(default_tolerance(r.kernel, integers));

  OutputDiffer differ;
  differ.add(oracle_runner->outputs(), c.runner->outputs());
  const OutputDiff diff = differ.result();
  r.max_err = diff.max_rel.value_or(INFINITY);
  // Not the other way round: NaN is off too.
  r.ok = r.max_err <= r.allowed;
  if (r.ok) return {};
  r.reason = fmt::format("{}: {}: {} is off by {:.2g} of the largest output, allowed {:.2g}{}",
                         r.problem.place(), r.problem.text, r.kernel, r.max_err, r.allowed,
                         diff.reason.empty() ? "" : " (" + diff.reason + ")");
  return {};
}

Status ProblemBench::time_hot(Case& c) {
  ProblemResult& r = c.result;
  const int threads = options_.threads;
  const ReadSizes sizes = read_sizes(context_.cpu(), threads);
  Machine machine;
  machine.cpu = context_.cpu();
  machine.threads = threads;
  // All that can be measured counts as known when the level is looked up.
  machine.l2.one = machine.l2.all = sizes.l2 > 0 ? 1 : std::optional<double>();
  machine.l3.one = machine.l3.all = sizes.l3 > 0 ? 1 : std::optional<double>();
  const MemoryLevel level = memory_level(r.bytes, machine, threads);
  const int64_t each = level.peak == &Machine::l2   ? sizes.l2
                       : level.peak == &Machine::l3 ? sizes.l3
                                                    : sizes.dram;
  HASTEN_TRY(const ReadBuffer* memory, buffer(Meter::read_bytes(threads, each)));
  Peak Machine::*const arithmetic = compute_peak(r.kernel);
  const DotPeak dot = arithmetic == &Machine::int8   ? int8_dot_peak()
                      : arithmetic == &Machine::bf16 ? bf16_dot_peak()
                                                     : DotPeak{};
  double flops_peak = 0, bytes_peak = 0;
  std::vector<double> ms;
  const int64_t begin = options_.control.now();
  const auto seconds = [&] { return static_cast<double>(options_.control.now() - begin) * 1e-9; };
  while (static_cast<int64_t>(ms.size()) < kLeastRuns || seconds() < options_.seconds) {
    if (options_.control.stopped()) return fail(Code::kCancelled, "interrupted");
    // A CPU without such instructions has the roof of multiply-adds.
    flops_peak =
        std::max(flops_peak, dot.name != nullptr ? meter_.dot(threads, dot) : meter_.fp32(threads));
    bytes_peak = std::max(bytes_peak, meter_.read(threads, *memory, each));
    HASTEN_CHECK(c.run_ms());  // brings its memory back into the caches
    HASTEN_CHECK(c.run_ms());
    double burst_ms = 0;
    for (int i = 0; i < 500 && (i < 3 || burst_ms < kBurstMs); ++i) {
      HASTEN_TRY(ms.emplace_back(), c.run_ms());
      burst_ms += ms.back();
    }
  }
  r.runs = static_cast<int64_t>(ms.size());
  r.min_ms = *std::min_element(ms.begin(), ms.end());
  r.p50_ms = median(ms);
  machine.*arithmetic = {flops_peak, flops_peak, ""};
  machine.*level.peak = {bytes_peak, bytes_peak, ""};
  r.peak_gflops = flops_peak;
  OpProfile op;
  op.kernel = r.kernel;
  op.ms = r.min_ms;
  op.flops = r.flops;
  op.bytes = r.bytes;
  apply_roof(op, machine, threads);
  r.roof_pct = op.roof_pct;
  r.bound = op.bound;
  if (r.min_ms <= 0) return {};
  r.gflops = r.flops / r.min_ms * 1e-6;
  r.gbps = r.bytes / r.min_ms * 1e-6;
  if (r.flops > 0) r.peak_pct = 100 * r.gflops / flops_peak;
  return {};
}

Status ProblemBench::time_cold(Case& c) {
  const int threads = options_.threads;
  const int64_t each = read_sizes(context_.cpu(), threads).dram;
  HASTEN_TRY(const ReadBuffer* memory, buffer(Meter::read_bytes(threads, each)));
  std::vector<double> ms;
  const int64_t begin = options_.control.now();
  const auto seconds = [&] { return static_cast<double>(options_.control.now() - begin) * 1e-9; };
  while (static_cast<int64_t>(ms.size()) < kLeastRuns ||
         (seconds() < options_.seconds / 4 && ms.size() < 50)) {
    if (options_.control.stopped()) return fail(Code::kCancelled, "interrupted");
    meter_.sweep(threads, *memory);
    touch(c.inputs);
    HASTEN_TRY(ms.emplace_back(), c.run_ms());
  }
  c.result.cold_ms = median(ms);
  return {};
}

Status ProblemBench::time(Case& c) {
  HASTEN_CHECK(time_hot(c));
  return time_cold(c);
}

Result<ProblemResult> ProblemBench::run(const Problem& problem) {
  Case c;
  c.result.problem = problem;
  Status done = check(c);
  if (done && !options_.check_only) done = time(c);
  if (done) return std::move(c.result);
  if (done.error().message.starts_with(problem.place())) return fail(std::move(done.error()));
  return fail(done.error().code, "{}: {}", problem.place(), done.error().message);
}

}  // namespace hasten
