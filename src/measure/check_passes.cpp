#include "measure/check_passes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/exec/native.h"
#include "engine/passes/pass.h"
#include "measure/diff_outputs.h"

namespace hasten {

namespace {

/// A pass states its bound for the values right behind a place; on their way to the outputs
/// differences may grow, through normalizations most of all.
constexpr double kGrowth = 10;

/// Outputs of all samples, kept.
using Answers = std::vector<std::vector<Tensor>>;

struct Compiled {
  Answers answers;
  std::vector<PassReport> passes;
};

Result<Compiled> run_with(Context& context, const Graph& graph, const EngineOptions& options,
                          std::span<const InputSet> samples) {
  HASTEN_TRY(const auto engine, NativeEngine::compile(context, graph, options));
  HASTEN_TRY(const auto runner, engine->make_runner());
  Compiled out;
  out.passes = engine->passes();
  for (const InputSet& sample : samples) {
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
  return differ.result().max_rel.value_or(std::numeric_limits<double>::infinity());
}

int changes_of(const std::vector<PassReport>& reports, const std::string& name) {
  for (const PassReport& r : reports) {
    if (r.name == name) return r.changes;
  }
  return 0;
}

}  // namespace

bool CheckResult::ok() const {
  return std::all_of(passes.begin(), passes.end(), [](const PassCheck& p) { return p.ok; });
}

Result<CheckResult> check_passes(Context& context, const Graph& graph, EngineOptions options,
                                 std::span<const InputSet> samples, const MeasureControl& control) {
  std::vector<const Pass*> on;
  for (const Pass& pass : all_passes()) {
    const auto& off = options.disabled_passes;
    if (std::find(off.begin(), off.end(), pass.name) == off.end()) on.push_back(&pass);
  }
  const std::vector<std::string> always_off = options.disabled_passes;
  const auto with = [&](const auto& keep) {
    options.disabled_passes = always_off;
    for (size_t i = 0; i < on.size(); ++i) {
      if (!keep(i)) options.disabled_passes.emplace_back(on[i]->name);
    }
    return run_with(context, graph, options, samples);
  };
  CheckResult result;
  result.samples = samples.size();
  HASTEN_TRY(const Compiled plain, with([](size_t) { return false; }));

  Compiled before = plain;
  double allowed_in_all = 0;
  for (size_t i = 0; i < on.size() && !result.interrupted; ++i) {
    PassCheck& check = result.passes.emplace_back();
    check.name = on[i]->name;
    auto after = with([&](size_t k) { return k <= i; });
    if (!after) {
      check.ok = false;
      check.max_err = std::numeric_limits<double>::infinity();
      check.reason = "fails with it: " + after.error().message;
      break;  // what comes after it can't be told from it
    }
    check.changes = changes_of(after->passes, check.name);
    check.max_err = apart(before.answers, after->answers);
    check.allowed = kGrowth * on[i]->bound * check.changes;
    allowed_in_all += check.allowed;
    if (!(check.max_err <= check.allowed)) {
      check.ok = false;
      check.reason = fmt::format("it moves outputs by {:.3g} of their scale, {:.3g} is its bound",
                                 check.max_err, check.allowed);
    }
    before = std::move(*after);
    result.interrupted = control.stopped();
    if (control.progress) {
      control.progress({"checking passes", static_cast<int64_t>(i + 1), 0,
                        static_cast<double>(i + 1) / static_cast<double>(2 * on.size())});
    }
  }
  // Where a pass is to blame already, leaving out another one tells nothing new.
  const size_t left_out = result.ok() ? result.passes.size() : 0;
  for (size_t i = 0; i < left_out && !result.interrupted; ++i) {
    PassCheck& check = result.passes[i];
    // A pass that changed nothing was never on; what it enables later ones to do was seen above.
    if (check.changes == 0) continue;
    check.allowed_without = allowed_in_all;
    auto others = with([&](size_t k) { return k != i; });
    if (!others) {
      check.without = std::numeric_limits<double>::infinity();
      check.reason = "fails without it: " + others.error().message;
      check.ok = false;
    } else {
      check.without = apart(plain.answers, others->answers);
      if (!(*check.without <= check.allowed_without)) {
        check.ok = false;
        check.reason = fmt::format(
            "without it the other passes move outputs by {:.3g} of their scale, {:.3g} is their "
            "bound",
            *check.without, check.allowed_without);
      }
    }
    result.interrupted = control.stopped();
    if (control.progress) {
      control.progress({"checking passes", static_cast<int64_t>(i + 1), 0,
                        0.5 + static_cast<double>(i + 1) / static_cast<double>(2 * on.size())});
    }
  }
  return result;
}

}  // namespace hasten
