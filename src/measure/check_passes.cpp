#include "measure/check_passes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/exec/native.h"
#include "engine/passes/pass.h"
#include "measure/cut_graph.h"
#include "measure/diff_outputs.h"

namespace hasten {

namespace {

/// A pass states its bound for the values right behind a place; on their way to the outputs
/// differences may grow, through normalizations most of all.
constexpr double kGrowth = 10;
/// What samples of a cut graph may take.
constexpr size_t kCutBytes = size_t{1} << 29;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Outputs of all samples, kept.
using Answers = std::vector<std::vector<Tensor>>;

struct Compiled {
  Answers answers;
  std::vector<PassReport> passes;
};

/// What is checked, and how.
struct Subject {
  Context& context;
  const Graph& graph;
  const EngineOptions& options;
  std::span<const InputSet> samples;
  const MeasureControl& control;
  std::span<const Pass> passes;
  const char* stage;
};

Result<Compiled> run_with(const Subject& s, const EngineOptions& options) {
  HASTEN_TRY(const auto engine,
             NativeEngine::compile(s.context, s.graph, options, LoadClock(), s.passes));
  HASTEN_TRY(const auto runner, engine->make_runner());
  Compiled out;
  out.passes = engine->passes();
  for (const InputSet& sample : s.samples) {
    HASTEN_CHECK(runner->bind(sample));
    HASTEN_CHECK(runner->run());
    std::vector<Tensor>& row = out.answers.emplace_back();
    for (const TensorView& v : runner->outputs()) {
      HASTEN_TRY(row.emplace_back(), Tensor::copy(v));
    }
  }
  return out;
}

double apart(const Answers& a, const Answers& b) {
  OutputDiffer differ;
  for (size_t i = 0; i < a.size(); ++i) {
    std::vector<TensorView> x, y;
    for (const Tensor& t : a[i]) x.push_back(t.view());
    for (const Tensor& t : b[i]) y.push_back(t.view());
    differ.add(x, y);
  }
  return differ.result().max_rel.value_or(kInfinity);
}

int changes_of(const std::vector<PassReport>& reports, const std::string& name) {
  for (const PassReport& r : reports) {
    if (r.name == name) return r.changes;
  }
  return 0;
}

/// One walk over the passes: growing prefixes, then all but each.
class Walk {
 public:
  explicit Walk(const Subject& subject) : s_(subject) {
    const auto& off = s_.options.disabled_passes;
    for (const Pass& pass : s_.passes) {
      if (std::find(off.begin(), off.end(), pass.name) == off.end()) on_.push_back(&pass);
    }
  }

  Result<CheckResult> run() {
    result_.planned = on_.size();
    result_.samples = s_.samples.size();
    if (stopped()) return std::move(result_);
    HASTEN_TRY(const Compiled plain, with([](size_t) { return false; }));
    add_one_by_one(plain);
    // Where a pass is to blame already, leaving out another one tells nothing new.
    if (result_.ok() && !result_.interrupted) leave_one_out(plain);
    return std::move(result_);
  }

 private:
  template <class Keep>
  Result<Compiled> with(const Keep& keep) const {
    EngineOptions options = s_.options;
    for (size_t i = 0; i < on_.size(); ++i) {
      if (!keep(i)) options.disabled_passes.emplace_back(on_[i]->name);
    }
    return run_with(s_, options);
  }

  /// Asked before each step: what is complete wasn't interrupted.
  bool stopped() { return result_.interrupted = s_.control.stopped(); }

  void done(size_t steps) const {
    if (!s_.control.progress) return;
    s_.control.progress({s_.stage, static_cast<int64_t>(steps), 0,
                         static_cast<double>(steps) / static_cast<double>(2 * on_.size())});
  }

  void add_one_by_one(Compiled before) {
    for (size_t i = 0; i < on_.size() && !stopped(); ++i) {
      PassCheck& check = result_.passes.emplace_back();
      check.name = on_[i]->name;
      auto after = with([&](size_t k) { return k <= i; });
      if (!after) {
        check.ok = false;
        check.fails = true;
        check.max_err = kInfinity;
        check.reason = "fails with it: " + after.error().message;
        break;  // what comes after it can't be told from it
      }
      check.changes = changes_of(after->passes, check.name);
      check.max_err = apart(before.answers, after->answers);
      check.allowed = kGrowth * on_[i]->bound * check.changes;
      if (!(check.max_err <= check.allowed)) {
        check.ok = false;
        check.reason = fmt::format("it moves outputs by {:.3g} of their scale, {:.3g} is its bound",
                                   check.max_err, check.allowed);
      }
      before = std::move(*after);
      done(i + 1);
    }
  }

  void leave_one_out(const Compiled& plain) {
    for (size_t i = 0; i < result_.passes.size() && !stopped(); ++i) {
      PassCheck& check = result_.passes[i];
      // A pass that changed nothing was never on; what it enables later ones to do was seen above.
      if (check.changes == 0) continue;
      auto others = with([&](size_t k) { return k != i; });
      if (!others) {
        check.without = kInfinity;
        check.reason = "fails without it: " + others.error().message;
        check.ok = false;
        check.fails = true;
      } else {
        check.without = apart(plain.answers, others->answers);
        // Their places are others without this one.
        for (const Pass* other : on_) {
          check.allowed_without += kGrowth * other->bound * changes_of(others->passes, other->name);
        }
        if (!(*check.without <= check.allowed_without)) {
          check.ok = false;
          check.reason = fmt::format(
              "without it the other passes move outputs by {:.3g} of their scale, {:.3g} is their "
              "bound",
              *check.without, check.allowed_without);
        }
      }
      done(on_.size() + i + 1);
    }
  }

  const Subject& s_;
  std::vector<const Pass*> on_;
  CheckResult result_;
};

/// The verdict on a pass that was checked on the model as it is and on the cut one.
void join(PassCheck& cut, const PassCheck& whole) {
  cut.behind_rounding = whole.max_err;
  if (!cut.ok) return;
  if (whole.max_err > 0 && whole.allowed == 0) {  // rounding the same bits gives the same bits
    cut.ok = false;
    cut.reason = whole.reason;
  } else if (!whole.ok && cut.changes < whole.changes) {
    cut.ok = false;
    cut.reason = fmt::format("{}; only {} of its {} places could be checked between roundings",
                             whole.reason, cut.changes, whole.changes);
  }
}

/// Checks the cut graph; what was found before where there is nothing to cut.
Result<CheckResult> check_cut(const Subject& subject, CheckResult whole) {
  EngineOptions plain = subject.options;
  plain.enable_passes = false;
  HASTEN_TRY(const auto engine, NativeEngine::compile(subject.context, subject.graph, plain));
  const std::optional<CutGraph> cut = cut_graph(engine->graph());
  if (!cut) return whole;
  HASTEN_TRY(const FedSamples fed, feed_samples(subject.context, engine->graph(), *cut, plain,
                                                subject.samples, kCutBytes));
  const Subject stretches{subject.context,
                          cut->graph,
                          subject.options,
                          fed.sets,
                          subject.control,
                          subject.passes,
                          "checking passes between roundings"};
  HASTEN_TRY(CheckResult result, Walk(stretches).run());
  result.samples = whole.samples;
  result.cut = CutCheck{cut->ops, cut->nodes(), fed.sets.size(), 0};
  for (const PassCheck& p : whole.passes) {
    result.cut->max_err = std::max({result.cut->max_err, p.max_err, p.without.value_or(0)});
  }
  for (size_t i = 0; i < std::min(result.passes.size(), whole.passes.size()); ++i) {
    join(result.passes[i], whole.passes[i]);
  }
  return result;
}

}  // namespace

bool CheckResult::ok() const {
  return std::all_of(passes.begin(), passes.end(), [](const PassCheck& p) { return p.ok; });
}

std::optional<bool> CheckResult::verdict() const {
  const bool fails =
      std::any_of(passes.begin(), passes.end(), [](const PassCheck& p) { return p.fails; });
  if (interrupted && !fails && (ok() || !cut)) return std::nullopt;
  return ok();
}

Result<CheckResult> check_passes(Context& context, const Graph& graph, const EngineOptions& options,
                                 std::span<const InputSet> samples, const MeasureControl& control,
                                 std::span<const Pass> passes) {
  const Subject subject{context, graph, options, samples, control, passes, "checking passes"};
  HASTEN_TRY(CheckResult result, Walk(subject).run());
  const bool fails = std::any_of(result.passes.begin(), result.passes.end(),
                                 [](const PassCheck& p) { return p.fails; });
  if (result.ok() || fails || result.interrupted) return result;
  if (control.stopped()) {
    result.interrupted = true;
    return result;
  }
  return check_cut(subject, std::move(result));
}

}  // namespace hasten
