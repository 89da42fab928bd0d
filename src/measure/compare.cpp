#include "measure/compare.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/counted.h"
#include "measure/idle.h"
#include "measure/sequential.h"
#include "measure/warmup.h"

namespace hasten {
namespace {

struct Side {
  const OpenInstance* open = nullptr;
  std::unique_ptr<Instance> instance;
  std::vector<double> samples, cold_ms, load_ms;
  double typical_ms = 0;
};

struct Burst {
  std::vector<double> ms;
  int group = 0;  // of the shapes, where all runs had the same
  bool one_group = true;
};

/// How a round is laid out, the same for all.
struct Layout {
  int64_t warmup = 1;  // runs of each side after the cold one
  int64_t pairs = 2;   // of bursts
  int64_t runs = 1;    // per burst
};

constexpr double kLongestSeconds = 3600;  // that an estimate of the time to decide may reach

class Comparer {
 public:
  Comparer(const OpenInstance& a, const OpenInstance& b, const CompareOptions& options)
      : options_(options) {
    sides_[0].open = &a;
    sides_[1].open = &b;
    result_.seed = options.seed != 0 ? options.seed : std::random_device()();
    random_.seed(result_.seed);
    result_.alpha = options.alpha;
    result_.margin = options.margin;
    result_.ci = {0, std::numeric_limits<double>::infinity()};
    if (options.so_far != nullptr) take_up(*options.so_far);
  }

  Result<Comparison> run();

 private:
  void take_up(const Comparison& so_far);
  void say_why();
  Status open_both();
  void close_both();
  Status calibrate();
  Status round();
  Result<Burst> burst(Side& side);
  bool clear() const;
  void judge();
  void finish(const SystemSample& before);
  double elapsed() const { return static_cast<double>(options_.control.now() - begin_) * 1e-9; }
  bool stopped() const { return options_.control.stopped(); }
  bool coin() { return random_() & 1; }

  const CompareOptions& options_;
  Side sides_[2];
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<char[]>> ballast_;
  Layout layout_;
  Comparison result_;
  int64_t begin_ = 0;
  bool whole_ = true;    // the current round wasn't cut short
  double before_s_ = 0;  // what an earlier part took
  size_t before_rounds_ = 0;
};

void Comparer::take_up(const Comparison& so_far) {
  result_.alpha = so_far.alpha;
  result_.margin = so_far.margin;
  result_.log_ratios = so_far.log_ratios;
  result_.warnings = so_far.warnings;
  before_s_ = so_far.seconds;
  before_rounds_ = so_far.log_ratios.size();
  const BenchResult* benches[2] = {&so_far.a, &so_far.b};
  for (size_t i : {0, 1}) {
    sides_[i].samples = benches[i]->samples_ms;
    sides_[i].cold_ms = {benches[i]->cold_ms};
    sides_[i].load_ms = {benches[i]->load_ms};
  }
  judge();
}

Status Comparer::open_both() {
  const size_t first = coin();
  for (size_t i : {first, 1 - first}) {
    // The allocator would give each round the same addresses; blocks of random size in between
    // make each round's memory fall elsewhere.
    for (int block = 0; block < 4; ++block) {
      ballast_.push_back(std::make_unique<char[]>(64 + random_() % 65536));
    }
    Side& side = sides_[i];
    HASTEN_TRY(side.instance, (*side.open)());
    side.load_ms.push_back(side.instance->load_ms());
  }
  for (size_t i : {first, 1 - first}) {
    HASTEN_TRY(const double ms, sides_[i].instance->run_once_ms());
    sides_[i].cold_ms.push_back(ms);
  }
  return {};
}

void Comparer::close_both() {
  for (Side& side : sides_) side.instance.reset();
  ballast_.clear();
}

/// One round that doesn't count: how long things take, and how long they warm up.
Status Comparer::calibrate() {
  HASTEN_CHECK(open_both());
  const double setup_s = elapsed();
  int64_t rotation = 1;
  for (Side& side : sides_) {
    std::vector<double> runs;
    const double begin = elapsed();
    const double limit = std::min(0.3, options_.seconds / 30);
    while (!stopped() && (runs.empty() || (runs.size() < 40 && elapsed() - begin < limit))) {
      HASTEN_TRY(const double ms, side.instance->run_once_ms());
      runs.push_back(ms);
    }
    if (runs.empty()) return {};
    side.typical_ms = std::max(median(runs), 1e-6);
    rotation = std::max(rotation, side.instance->rotation());
    layout_.warmup = std::max(layout_.warmup, find_warmup(runs).runs + 1);
  }
  close_both();
  layout_.warmup = std::max(layout_.warmup, rotation);

  // Half of the time for opening and warming up, half for measuring; at least a dozen rounds.
  const double both_ms = sides_[0].typical_ms + sides_[1].typical_ms;
  const double prepare_ms = setup_s * 1e3 + static_cast<double>(layout_.warmup) * both_ms;
  const double left_ms = std::max(0.0, options_.seconds - elapsed()) * 1e3;
  double measure_ms = std::clamp(prepare_ms, 60.0, 1000.0);
  measure_ms = std::min(measure_ms, left_ms / 12 - prepare_ms);
  const double runs_a_side = measure_ms / both_ms;
  layout_.pairs = std::clamp<int64_t>(static_cast<int64_t>(runs_a_side), 2, 6);
  layout_.runs =
      std::max<int64_t>(1, std::llround(runs_a_side / static_cast<double>(layout_.pairs)));
  return {};
}

Result<Burst> Comparer::burst(Side& side) {
  if (options_.rest) {
    options_.rest();
  } else {
    wait_until_idle();
  }
  Burst burst;
  for (int64_t i = 0; i < layout_.runs && !stopped(); ++i) {
    HASTEN_TRY(const double ms, side.instance->run_once_ms());
    // The first run brings back into the cache what the other side drove out.
    if (i == 0 && layout_.runs >= 3) continue;
    burst.ms.push_back(std::max(ms, 1e-9));
    const int group = side.instance->shape_group();
    burst.one_group = burst.one_group && (burst.ms.size() == 1 || group == burst.group);
    burst.group = group;
  }
  whole_ = whole_ && !stopped();
  return burst;
}

/// log(A / B) of a pair of bursts. Both ran the same inputs in the same order: with several shapes
/// run is held against run, as a median over shapes would depend on which of them it met.
double log_ratio(const Burst& a, const Burst& b) {
  if (a.one_group && b.one_group && a.group == b.group)
    return std::log(median(a.ms) / median(b.ms));
  std::vector<double> ratios;
  for (size_t i = 0; i < a.ms.size(); ++i) ratios.push_back(std::log(a.ms[i] / b.ms[i]));
  return median(ratios);
}

Status Comparer::round() {
  HASTEN_CHECK(open_both());
  for (int64_t i = 0; i < layout_.warmup && !stopped(); ++i) {
    for (Side& side : sides_) HASTEN_CHECK(side.instance->run_once_ms());
  }
  std::vector<double> ratios;
  std::vector<double> samples[2];
  whole_ = true;
  for (int64_t pair = 0; pair < layout_.pairs && whole_; ++pair) {
    Burst bursts[2];
    const size_t first = coin();
    for (size_t i : {first, 1 - first}) {
      HASTEN_TRY(bursts[i], burst(sides_[i]));
      samples[i].insert(samples[i].end(), bursts[i].ms.begin(), bursts[i].ms.end());
    }
    if (whole_) ratios.push_back(log_ratio(bursts[0], bursts[1]));
  }
  close_both();
  if (!whole_ || ratios.empty()) return {};
  result_.log_ratios.push_back(median(ratios));
  for (size_t i : {0, 1}) {
    sides_[i].samples.insert(sides_[i].samples.end(), samples[i].begin(), samples[i].end());
  }
  return {};
}

void Comparer::judge() {
  const std::vector<double>& ratios = result_.log_ratios;
  result_.rounds = static_cast<int64_t>(ratios.size());
  if (ratios.empty()) return;
  result_.speedup = std::exp(mean(ratios));
  const Interval interval = mean_interval(ratios, result_.alpha);
  result_.ci = {std::exp(interval.lo), std::exp(interval.hi)};
  result_.verdict = Verdict::kUnsure;
  if (result_.rounds < options_.min_rounds) return;
  if (result_.ci.lo > 1) {
    result_.verdict = Verdict::kFaster;
  } else if (result_.ci.hi < 1) {
    result_.verdict = Verdict::kSlower;
  } else if (result_.ci.lo >= 1 - result_.margin && result_.ci.hi <= 1 + result_.margin) {
    result_.verdict = Verdict::kSame;
  }
}

bool Comparer::clear() const {
  if (result_.verdict == Verdict::kUnsure) return false;
  if (result_.verdict == Verdict::kSame) return true;
  const double half = std::log(result_.ci.hi / result_.ci.lo) / 2;
  return half <= std::max(0.01, std::fabs(std::log(result_.speedup)) / 3);
}

void Comparer::finish(const SystemSample& before) {
  BenchResult* benches[2] = {&result_.a, &result_.b};
  for (size_t i : {0, 1}) {
    Side& side = sides_[i];
    // Instances differ, so no check for one steady distribution: that is what rounds are for.
    BenchResult bench = figures(std::move(side.samples));
    bench.cold_ms = median(side.cold_ms);
    bench.load_ms = median(side.load_ms);
    bench.warmup_runs = layout_.warmup * result_.rounds;
    bench.interrupted = stopped();
    bench.seconds = before_s_ + elapsed();
    bench.rss_mb = resident_mb(options_.proc_root);
    *benches[i] = std::move(bench);
  }
  result_.runs_per_burst = layout_.runs;
  result_.bursts_per_round = 2 * layout_.pairs;
  result_.warmup_runs = layout_.warmup;
  result_.interrupted = stopped();
  result_.seconds = before_s_ + elapsed();
  for (Warning& now : disturbances(before, read_system(options_.proc_root))) {
    std::erase_if(result_.warnings, [&](const Warning& old) { return old.what == now.what; });
    result_.warnings.push_back(std::move(now));
  }
  say_why();
}

void Comparer::say_why() {
  const double percent = 100 * (1 - result_.alpha), margin = 100 * result_.margin;
  std::string next = "give more time (--seconds) or a quieter machine";
  if (result_.verdict == Verdict::kUnsure) {
    const double each = std::max(result_.seconds, 1e-3) / static_cast<double>(result_.rounds);
    std::optional<int64_t> wanted =
        values_to_decide(result_.log_ratios, result_.alpha, std::log1p(result_.margin),
                         static_cast<int64_t>(kLongestSeconds / each));
    if (result_.rounds < options_.min_rounds)
      wanted = std::max<int64_t>(options_.min_rounds, wanted.value_or(0));
    if (wanted) {
      // A tenth for what opening and calibrating again takes.
      result_.more_seconds =
          std::max(1.0, 1.1 * static_cast<double>(*wanted - result_.rounds) * each);
      next = fmt::format("if it stays so, {} more would decide (--seconds {:.0f})",
                         about_seconds(*result_.more_seconds),
                         std::ceil(result_.seconds) + std::ceil(*result_.more_seconds));
    } else {
      next = "at this spread even an hour would not decide: a quieter machine might";
    }
  }
  switch (result_.verdict) {
    case Verdict::kFaster:
    case Verdict::kSlower:
      result_.why =
          fmt::format("the {:.4g} % interval of the speedup, {:.4f} to {:.4f}, excludes 1", percent,
                      result_.ci.lo, result_.ci.hi);
      break;
    case Verdict::kSame:
      result_.why = fmt::format("the {:.4g} % interval lies within {:.3g} % of 1", percent, margin);
      break;
    case Verdict::kUnsure:
      result_.why =
          result_.rounds < options_.min_rounds
              ? fmt::format(
                    "{} of fresh instances in {:.1f} s {} too few (at least {}{}); {}",
                    counted(result_.rounds, "round"), result_.seconds,
                    result_.rounds == 1 ? "is" : "are", options_.min_rounds,
                    result_.rounds == 1 && result_.seconds > before_s_ + 1.2 * options_.seconds
                        ? fmt::format(", and one, opening included, takes longer than {:.4g} s",
                                      options_.seconds)
                        : "",
                    next)
              : fmt::format(
                    "the {:.4g} % interval, {:.4f} to {:.4f}, holds 1 and reaches beyond "
                    "{:.3g} % of it; {}",
                    percent, result_.ci.lo, result_.ci.hi, margin, next);
      break;
  }
}

Result<Comparison> Comparer::run() {
  const SystemSample before = read_system(options_.proc_root);
  begin_ = options_.control.now();
  if (stopped()) return fail(Code::kCancelled, "interrupted before the first run");
  HASTEN_CHECK(calibrate());
  const double calibrated = elapsed();
  while (!stopped() && static_cast<int>(result_.log_ratios.size()) < options_.max_rounds) {
    const double now = elapsed();
    const auto done = static_cast<double>(result_.log_ratios.size() - before_rounds_);
    const double per_round = done > 0 ? (now - calibrated) / done : 0;
    if (done > 0 && now + per_round > options_.seconds) break;
    if (options_.control.progress) {
      options_.control.progress({fmt::format("round {}", result_.log_ratios.size() + 1),
                                 static_cast<int64_t>(sides_[0].samples.size()), now,
                                 std::min(1.0, now / options_.seconds)});
    }
    HASTEN_CHECK(round());
    judge();
    if (clear()) break;
    // Rounds that take longer than planned (a busy machine) are made shorter: many short ones tell
    // more than a few long ones.
    const double each =
        (elapsed() - calibrated) / static_cast<double>(result_.log_ratios.size() - before_rounds_);
    if (each * 2 * options_.min_rounds > options_.seconds - calibrated) {
      layout_.pairs = std::max<int64_t>(2, layout_.pairs / 2);
      layout_.runs = std::max<int64_t>(1, layout_.runs / 2);
    }
  }
  if (result_.log_ratios.empty()) {
    return fail(Code::kCancelled, "interrupted before the first round was complete");
  }
  finish(before);
  return std::move(result_);
}

std::string bench_line(const char* name, const BenchResult& bench) {
  auto or_dash = [](const std::optional<double>& ms) {
    return ms ? fmt::format("{:.4g}", *ms) : std::string("-");
  };
  return fmt::format(
      "{}  p50 {:.4g} ms  p90 {}  p99 {}  mean {:.4g}  cold {:.4g}  load {:.4g}  n {}\n", name,
      bench.p50_ms, or_dash(bench.p90_ms), or_dash(bench.p99_ms), bench.mean_ms, bench.cold_ms,
      bench.load_ms, bench.n);
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kSame:
      return "same";
    case Verdict::kUnsure:
      return "unsure";
  }
  return "?";
}

Result<Comparison> compare(const OpenInstance& a, const OpenInstance& b,
                           const CompareOptions& options) {
  return Comparer(a, b, options).run();
}

std::string text(const Comparison& c) {
  std::string out = bench_line("A", c.a) + bench_line("B", c.b);
  out += fmt::format("speedup {:.4f} [{:.4f}, {:.4f}] at {:.4g} %, {}, {:.1f} s: B is {}\n",
                     c.speedup, c.ci.lo, c.ci.hi, 100 * (1 - c.alpha), counted(c.rounds, "round"),
                     c.seconds, verdict_name(c.verdict));
  out += fmt::format("  {}{}\n", c.why, c.interrupted ? " (interrupted)" : "");
  const OutputDiff& diff = c.outputs;
  if (diff.max_abs) {
    out += fmt::format("outputs of {} samples: max abs {:.3g}, max rel {:.3g}, cosine {:.6f}",
                       diff.samples, *diff.max_abs, *diff.max_rel, *diff.cosine);
    if (diff.top1_agreement) out += fmt::format(", top-1 {:.2f} %", 100 * *diff.top1_agreement);
    out += "\n";
  } else if (!diff.reason.empty()) {
    out += fmt::format("outputs: {}\n", diff.reason);
  }
  for (const Warning& w : c.warnings) {
    out += fmt::format("warning: {}: {}; {}\n", w.what, w.why, w.next);
  }
  return out;
}

}  // namespace hasten
