#include "improve/optimize.h"

#include <algorithm>
#include <ctime>

#include "base/mapped_file.h"
#include "engine/ops/numbers.h"
#include "measure/idle.h"
#include "measure/machine.h"

namespace hasten {

namespace {

constexpr int kScreeningRounds = 3;
constexpr size_t kScreeningRuns = 3;                 // per round, at least
constexpr double kScreeningMs = 150;                 // per round, at least
constexpr size_t kFinalists = 2;                     // compared in full, best first
constexpr double kLeastMoreRounds = 3;               // for which an undecided one is gone on with
constexpr int64_t kMaxKeptBytes = int64_t{1} << 30;  // of the baseline's outputs

std::string utc_now() {
  const std::time_t t = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&t, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string inputs_hash(std::span<const InputSet> sets) {
  std::string hashes;
  for (const InputSet& set : sets) {
    for (const TensorView& v : set) {
      const size_t bytes = static_cast<size_t>(v.count()) * dtype_size(v.dtype);
      hashes += hash_hex({static_cast<const std::byte*>(v.data), bytes}) + dims_text(v.dims);
    }
  }
  return hash_hex(std::as_bytes(std::span(hashes)));
}

Result<Tensor> copy_of(const TensorView& v) {
  HASTEN_TRY(Tensor copy, Tensor::make(v.dtype, v.dims));
  copy_elements(v.dtype, v.data, copy.mutable_data(), v.count());
  return copy;
}

class Search {
 public:
  Search(Context& context, const std::string& model, std::span<const InputSet> sets,
         const OptimizeOptions& options)
      : context_(context), model_(model), sets_(sets), options_(options) {}

  Result<Proof> run() {
    if (sets_.empty()) return fail(Code::kInvalidArgument, "optimize needs at least one input");
    HASTEN_CHECK(describe());
    HASTEN_CHECK(keep_baseline_outputs());
    for (size_t i = 1; i < proof_.tried.size() && !stopped(); ++i) {
      report("checking answers of " + proof_.tried[i].target, 0.3 * share(i));
      check_answers(proof_.tried[i]);
    }
    reference_.clear();
    HASTEN_CHECK(screen());
    HASTEN_CHECK(decide());
    proof_.interrupted = stopped();
    return std::move(proof_);
  }

 private:
  bool stopped() const { return options_.control.stopped(); }
  double share(size_t i) const {
    return static_cast<double>(i) / static_cast<double>(proof_.tried.size());
  }
  void report(const std::string& stage, double fraction) const {
    if (!options_.control.progress) return;
    const double seconds = static_cast<double>(options_.control.now() - begin_ns_) * 1e-9;
    options_.control.progress({stage, 0, seconds, fraction});
  }

  Status describe() {
    proof_.hasten_version = HASTEN_VERSION;
    proof_.model_path = model_;
    proof_.created = utc_now();
    proof_.fingerprint =
        machine_fingerprint(context_.cpu(), context_.isa(), choose_threads(context_.cpu()).threads);
    proof_.data_hash = inputs_hash(sets_);
    HASTEN_TRY(const MappedFile file, MappedFile::open(model_));
    proof_.model_hash = hash_hex(file.bytes());
    for (EngineOptions& o : optimize_candidates(context_, options_)) {
      Tried tried;
      tried.target = options_text(o);
      tried.options = std::move(o);
      proof_.tried.push_back(std::move(tried));
    }
    proof_.tried[0].outcome = Outcome::kBaseline;
    proof_.tried[0].why = "what the others are held against";
    return {};
  }

  Status keep_baseline_outputs() {
    report("the baseline's answers", 0);
    Tried& baseline = proof_.tried[0];
    HASTEN_TRY(OpenedModel opened, open_model(context_, model_, baseline.options));
    baseline.version = opened.engine->version();
    int64_t bytes = 0;
    for (const InputSet& set : sets_) {
      HASTEN_CHECK(opened.runner->bind(set));
      HASTEN_CHECK(opened.runner->run());
      std::vector<Tensor> outputs;
      for (const TensorView& v : opened.runner->outputs()) {
        HASTEN_TRY(Tensor copy, copy_of(v));
        bytes += static_cast<int64_t>(copy.bytes());
        outputs.push_back(std::move(copy));
      }
      reference_.push_back(std::move(outputs));
      if (bytes > kMaxKeptBytes || stopped()) break;
    }
    proof_.samples = static_cast<int64_t>(reference_.size());
    return {};
  }

  /// Runs the samples on a candidate and holds its outputs against the baseline's.
  void check_answers(Tried& tried) {
    auto give_up = [&](const Error& error) {
      tried.outcome = Outcome::kFailed;
      tried.why = error.message;
    };
    auto opened = open_model(context_, model_, tried.options);
    if (!opened) return give_up(opened.error());
    tried.version = opened->engine->version();
    OutputDiffer differ;
    for (size_t s = 0; s < reference_.size() && !stopped(); ++s) {
      if (Status ok = opened->runner->bind(sets_[s]); !ok) return give_up(ok.error());
      if (Status ok = opened->runner->run(); !ok) return give_up(ok.error());
      std::vector<TensorView> expected;
      for (const Tensor& t : reference_[s]) expected.push_back(t.view());
      differ.add(expected, opened->runner->outputs());
    }
    tried.accuracy = judge_accuracy(differ.result(), tried.options.precision, options_.gate);
    if (tried.accuracy->passed) return;
    tried.outcome = Outcome::kOut;
    tried.why = tried.accuracy->why;
  }

  /// Median of a few runs of a fresh instance.
  Result<double> time_once(const Tried& tried) {
    HASTEN_TRY(OpenedModel opened, open_model(context_, model_, tried.options));
    TimedRunner timed(*opened.runner, sets_);
    HASTEN_CHECK(timed.run_once_ms());
    wait_until_idle();
    HASTEN_CHECK(timed.run_once_ms());
    std::vector<double> ms;
    double total = 0;
    while ((ms.size() < kScreeningRuns || total < kScreeningMs) && !stopped()) {
      HASTEN_TRY(const double t, timed.run_once_ms());
      ms.push_back(t);
      total += t;
    }
    if (ms.empty()) return fail(Code::kCancelled, "stopped");
    return median(ms);
  }

  /// A few short alternating rounds: which candidates are worth a full comparison.
  Status screen() {
    std::vector<std::vector<double>> ms(proof_.tried.size()), ratios(proof_.tried.size());
    for (int round = 0; round < kScreeningRounds && !stopped(); ++round) {
      report(fmt::format("screening, round {}", round + 1), 0.3 + 0.1 * round);
      double baseline = 0;
      for (size_t i = 0; i < proof_.tried.size() && !stopped(); ++i) {
        Tried& tried = proof_.tried[i];
        if (tried.outcome == Outcome::kFailed || tried.outcome == Outcome::kOut) continue;
        wait_until_idle();
        auto t = time_once(tried);
        if (!t) {
          if (t.error().code == Code::kCancelled) break;
          if (i == 0) return fail(t.error());
          tried.outcome = Outcome::kFailed;
          tried.why = t.error().message;
          continue;
        }
        if (i == 0) baseline = *t;
        if (tried.outcome == Outcome::kUntried) tried.outcome = Outcome::kLost;
        ms[i].push_back(*t);
        ratios[i].push_back(baseline / *t);
      }
    }
    for (size_t i = 0; i < proof_.tried.size(); ++i) {
      if (ms[i].empty()) continue;
      proof_.tried[i].p50_ms = median(ms[i]);
      proof_.tried[i].screened = median(ratios[i]);
    }
    return {};
  }

  /// Compares the finalists with the baseline, best first, until one is proven faster. They share
  /// alpha, so that looking at a second one doesn't raise the chance of a false claim. What is left
  /// of their time goes to those that are undecided.
  Status decide() {
    std::vector<size_t> order;
    for (size_t i = 1; i < proof_.tried.size(); ++i) {
      if (proof_.tried[i].outcome == Outcome::kLost) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return *proof_.tried[a].screened > *proof_.tried[b].screened;
    });
    for (size_t rank = 0; rank < order.size() && stopped(); ++rank) {
      Tried& tried = proof_.tried[order[rank]];
      tried.outcome = Outcome::kUntried;
      tried.why = "interrupted in the screening";
    }
    for (size_t rank = kFinalists; rank < order.size() && !stopped(); ++rank) {
      say_screened(order, rank);
    }
    order.resize(std::min(order.size(), kFinalists));
    double left = options_.seconds * static_cast<double>(kFinalists);
    std::vector<Comparison> results(order.size());
    size_t chosen = 0, shown = 0;  // shown: by rank, whose comparison the proof holds
    for (size_t rank = 0; rank < order.size() && chosen == 0 && !stopped(); ++rank) {
      HASTEN_CHECK(compare_with_baseline(order[rank], results[rank], options_.seconds));
      left -= results[rank].seconds;
      if (results[rank].verdict == Verdict::kFaster) chosen = order[shown = rank];
    }
    while (chosen == 0 && !stopped()) {
      const std::optional<size_t> rank = worth_more_time(results, left);
      if (!rank) break;
      const double before = results[*rank].seconds;
      HASTEN_CHECK(compare_with_baseline(order[*rank], results[*rank], left));
      left -= results[*rank].seconds - before;
      if (results[*rank].verdict == Verdict::kFaster) chosen = order[shown = *rank];
    }
    if (chosen == 0) {
      // An undecided one says more than one that lost; among equals the first.
      for (size_t rank = 0; rank < order.size() && results[shown].verdict != Verdict::kUnsure;
           ++rank) {
        if (results[rank].rounds > 0 && results[rank].verdict == Verdict::kUnsure) shown = rank;
      }
    }
    for (size_t rank = 0; rank < order.size(); ++rank) {
      if (results[rank].rounds > 0) continue;
      say_screened(order, rank);
      if (chosen != 0 || !stopped()) continue;
      proof_.tried[order[rank]].outcome = Outcome::kUntried;  // it lost to nobody
      proof_.tried[order[rank]].why = "interrupted before it was compared in full";
    }
    proof_.baseline = proof_.tried[0];
    proof_.chosen = proof_.tried[chosen];
    proof_.keeps_baseline = chosen == 0;
    if (shown < results.size() && results[shown].rounds > 0) {
      proof_.comparison = std::move(results[shown]);
      proof_.challenger = proof_.tried[order[shown]].target;
    }
    for (Tried& tried : proof_.tried) {
      if (tried.outcome == Outcome::kUntried && tried.why.empty())
        tried.why = "interrupted before its turn";
    }
    return {};
  }

  /// Why one that wasn't compared in full wasn't.
  void say_screened(const std::vector<size_t>& order, size_t rank) {
    Tried& tried = proof_.tried[order[rank]];
    tried.why = rank == 0 ? "not compared in full"
                          : fmt::format("{:.3f} x in the screening, where the best had {:.3f} x",
                                        *tried.screened, *proof_.tried[order[0]].screened);
  }

  /// The undecided one that is likely to be decided soonest, if there is time for a few rounds.
  std::optional<size_t> worth_more_time(const std::vector<Comparison>& results, double left) const {
    std::optional<size_t> best;
    for (size_t i = 0; i < results.size(); ++i) {
      const Comparison& c = results[i];
      if (c.rounds == 0 || c.verdict != Verdict::kUnsure || !c.more_seconds) continue;
      if (left < kLeastMoreRounds * c.seconds / static_cast<double>(c.rounds)) continue;
      if (!best || *c.more_seconds < *results[*best].more_seconds) best = i;
    }
    return best;
  }

  /// Compares one in full; goes on with `result` if that has rounds already.
  Status compare_with_baseline(size_t index, Comparison& result, double seconds) {
    Tried& tried = proof_.tried[index];
    CompareOptions compare_options;
    compare_options.seconds = seconds;
    compare_options.alpha = options_.alpha / static_cast<double>(kFinalists);
    compare_options.so_far = result.rounds > 0 ? &result : nullptr;
    compare_options.control = options_.control;
    compare_options.control.progress = [&](const Progress& p) {
      report(fmt::format("{} against the baseline: {}", tried.target, p.stage),
             0.6 + 0.4 * p.fraction);
    };
    auto compared =
        compare(instance_opener(context_, model_, proof_.tried[0].options, sets_),
                instance_opener(context_, model_, tried.options, sets_), compare_options);
    if (!compared) {
      if (compared.error().code == Code::kCancelled) return {};
      return fail(compared.error());
    }
    result = std::move(*compared);
    result.outputs = tried.accuracy->diff;
    tried.speedup = result.speedup;
    tried.ci = result.ci;
    tried.why = result.why;
    tried.outcome = result.verdict == Verdict::kFaster   ? Outcome::kChosen
                    : result.verdict == Verdict::kUnsure ? Outcome::kUnsure
                                                         : Outcome::kLost;
    return {};
  }

  Context& context_;
  const std::string& model_;
  std::span<const InputSet> sets_;
  const OptimizeOptions& options_;
  const int64_t begin_ns_ = options_.control.now();
  Proof proof_;
  std::vector<std::vector<Tensor>> reference_;  // the baseline's outputs, by sample
};

}  // namespace

std::vector<EngineOptions> optimize_candidates(Context& context, const OptimizeOptions& options) {
  const int threads =
      options.max_threads > 0 ? options.max_threads : choose_threads(context.cpu()).threads;
  const bool ort = engine_built_in(EngineKind::kOnnxRuntime);
  const bool ov = engine_built_in(EngineKind::kOpenVino);
  const auto& features = context.cpu().features;
  const bool bf16 = std::any_of(features.begin(), features.end(), [](const std::string& f) {
    return f == "avx512_bf16" || f == "amx_bf16";
  });
  std::vector<EngineOptions> out;
  auto add = [&](EngineKind kind, int n, Precision precision) {
    EngineOptions o;
    o.kind = kind;
    o.threads = n;
    o.precision = precision;
    o.math = kind == EngineKind::kNative ? options.math : MathMode::kFast;
    o.shapes = options.shapes;
    o.memory_limit = options.memory_limit;
    out.push_back(std::move(o));
  };
  if (ort) {
    add(EngineKind::kOnnxRuntime, 0, Precision::kModel);
  } else {
    add(EngineKind::kNative, 1, Precision::kModel);
  }
  for (int n = 1; n <= threads; ++n) {
    if (ort || n > 1) add(EngineKind::kNative, n, Precision::kModel);
    if (ort) add(EngineKind::kOnnxRuntime, n, Precision::kModel);
    if (ov) add(EngineKind::kOpenVino, n, Precision::kFp32);
    if (ov && bf16) add(EngineKind::kOpenVino, n, Precision::kBf16);
  }
  return out;
}

Result<Proof> optimize(Context& context, const std::string& model, std::span<const InputSet> sets,
                       const OptimizeOptions& options) {
  return Search(context, model, sets, options).run();
}

}  // namespace hasten
