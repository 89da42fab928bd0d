// hasten verify DIR|proof.json: does a proof hold here?
#include <filesystem>

#include "base/mapped_file.h"
#include "cli/app.h"
#include "cli/bundle.h"
#include "cli/commands.h"
#include "cli/diff_models.h"
#include "engine/plan/plan_file.h"
#include "measure/compare.h"
#include "measure/machine.h"
#include "measure/proof.h"
#include "report/proof_json.h"
#include "report/text.h"

namespace hasten {

namespace fs = std::filesystem;

namespace {

struct Options {
  std::string path;
  double seconds = 10;
};

/// What is to be checked: a bundle, or a proof alone.
struct Subject {
  std::string folder;  // of the bundle; empty for a proof alone
  Claim claim;
  Target baseline, chosen;
};

/// What was found; `holds` until something speaks against it.
struct Findings {
  bool holds = true;
  bool undecided = false;  // an interruption came before anything spoke for or against it
  std::vector<std::string> reasons;
  std::optional<Comparison> comparison;
  void against(std::string reason) {
    holds = false;
    reasons.push_back(std::move(reason));
  }
};

Result<Subject> read_subject(App& app, const std::string& path) {
  Subject subject;
  std::error_code ignored;
  std::string proof = path;
  if (fs::is_directory(path, ignored)) {
    subject.folder = path;
    proof = path + "/proof.json";
  } else if (const fs::path parent = fs::path(path).parent_path();
             fs::exists(parent / "bundle.json", ignored)) {
    subject.folder = parent.empty() ? "." : parent.string();
  }
  HASTEN_TRY(const std::string text, read_file(proof));
  if (!text.starts_with('{')) {
    return fail(Code::kInvalidArgument,
                "'{}' is neither a bundle nor a proof: name what hasten optimize wrote, the "
                "folder or its proof.json",
                proof);
  }
  HASTEN_TRY(subject.claim, claim_from_json(text, proof));
  const Claim& claim = subject.claim;
  const std::string model =
      subject.folder.empty() ? claim.model_path : subject.folder + "/model.onnx";
  HASTEN_TRY(subject.baseline, app.target(model + "@" + claim.baseline));
  HASTEN_TRY(subject.chosen,
             app.target(subject.folder.empty() ? model + "@" + claim.chosen : subject.folder));
  return subject;
}

Status check_files(const Subject& subject, const std::string& isa, Findings& findings) {
  if (!subject.folder.empty()) {
    HASTEN_TRY(const BundleInfo info, read_bundle(subject.folder));
    HASTEN_TRY(const std::string changed, changed_file(subject.folder, info));
    if (!changed.empty()) findings.against("the bundle is not as it was made: " + changed);
    if (subject.chosen.model.ends_with(".hplan")) {
      auto plan = load_plan(subject.chosen.model, isa, true);
      // Another tier than this machine's is said when the plan is opened.
      if (!plan && plan.error().code == Code::kInvalidModel) findings.against(plan.error().message);
    }
  }
  HASTEN_TRY(const MappedFile model, MappedFile::open(subject.baseline.model));
  const std::string hash = hash_hex(model.bytes());
  if (hash != subject.claim.model_hash) {
    findings.against(fmt::format("the model '{}' has changed: hash {}, proven {}",
                                 subject.baseline.model, hash, subject.claim.model_hash));
  }
  return {};
}

/// --data if given, else what lies in the bundle, else the data of the proof, else made up.
Result<Samples> find_inputs(App& app, const Subject& subject, const std::vector<Port>& ports,
                            Findings& findings) {
  InputRequest request = app.request();
  std::error_code ignored;
  if (request.data.empty() && request.inputs.empty()) {
    const std::string bundled = subject.folder + "/inputs.npz";
    if (!subject.folder.empty() && fs::exists(bundled, ignored)) {
      request.data = bundled;
    } else if (!subject.claim.data_path.empty() && fs::exists(subject.claim.data_path, ignored)) {
      request.data = subject.claim.data_path;
    } else {
      findings.reasons.emplace_back("the inputs of the proof are not here: others were made up");
    }
  }
  app.set_request(request);
  return app.inputs(subject.baseline, ports);
}

/// A fresh A/B with the outputs diffed; short, so it need only not contradict the proof on the
/// machine that it was made on. On another machine it has to prove the claim anew.
Status check_speed(App& app, const Options& options, const Subject& subject, bool same_machine,
                   Findings& findings) {
  const MeasureControl control = app.control();
  std::vector<InputSet> sets_a, sets_b;
  Samples samples;
  OutputDiff outputs;
  {
    HASTEN_TRY(OpenedModel a, app.open(subject.baseline));
    HASTEN_TRY(OpenedModel b, app.open(subject.chosen));
    HASTEN_TRY(samples, find_inputs(app, subject, a.engine->inputs(), findings));
    HASTEN_TRY(sets_a, samples.sets(a.engine->inputs()));
    HASTEN_TRY(sets_b, samples.sets(b.engine->inputs()));
    HASTEN_TRY(outputs, diff_models(a, b, sets_a, sets_b, control));
  }
  if (control.stopped()) {
    findings.undecided = true;
    return {};
  }
  AccuracyGate gate;
  gate.min_samples = 1;  // the proof had enough; this is a check of a few
  const Accuracy accuracy = judge_accuracy(outputs, subject.chosen.options.precision, gate);
  if (!accuracy.passed) findings.against("the answers differ: " + accuracy.why);
  HASTEN_TRY(Context * context, app.context());
  CompareOptions compare_options;
  compare_options.seconds = options.seconds;
  compare_options.control = control;
  HASTEN_TRY(
      Comparison c,
      compare(instance_opener(*context, subject.baseline.model, subject.baseline.options, sets_a),
              instance_opener(*context, subject.chosen.model, subject.chosen.options, sets_b),
              compare_options));
  c.outputs = outputs;
  const std::string measured =
      fmt::format("{:.3f} x [{:.3f}, {:.3f}]", c.speedup, c.ci.lo, c.ci.hi);
  const std::string proven = fmt::format("{:.3f} x [{:.3f}, {:.3f}]", subject.claim.speedup,
                                         subject.claim.ci.lo, subject.claim.ci.hi);
  const bool contradicts = c.verdict == Verdict::kSlower || c.ci.hi < subject.claim.ci.lo;
  if (c.interrupted && c.verdict != Verdict::kFaster && !contradicts) {
    findings.undecided = true;
  } else if (c.verdict == Verdict::kFaster && !contradicts) {
    findings.reasons.push_back(fmt::format("faster here too: {}, proven {}", measured, proven));
  } else if (c.verdict == Verdict::kFaster) {
    findings.reasons.push_back(
        fmt::format("faster, but less than proven: {}, proven {}", measured, proven));
  } else if (contradicts || !same_machine) {
    findings.against(fmt::format("not shown to be faster here: {}, proven {}", measured, proven));
  } else {
    findings.reasons.push_back(
        fmt::format("a short comparison doesn't contradict it: {}, proven {}", measured, proven));
  }
  findings.comparison = std::move(c);
  return {};
}

Result<int> run_verify(App& app, const Options& options) {
  HASTEN_TRY(const Subject subject, read_subject(app, options.path));
  HASTEN_TRY(Context * context, app.context());
  Findings findings;
  HASTEN_CHECK(check_files(subject, isa_name(context->isa()), findings));
  const std::string here =
      machine_fingerprint(context->cpu(), context->isa(), choose_threads(context->cpu()).threads);
  const bool same_machine = here == subject.claim.fingerprint;
  if (!same_machine) {
    findings.reasons.push_back(
        fmt::format("made on another machine: {} there, {} here", subject.claim.fingerprint, here));
  }
  if (findings.holds && subject.claim.keeps_baseline) {
    findings.reasons.emplace_back("the baseline was kept: there is no speedup to check");
  } else if (findings.holds) {
    auto checked = check_speed(app, options, subject, same_machine, findings);
    if (!checked && checked.error().code == Code::kCancelled) {
      findings.undecided = true;
    } else if (!checked) {
      findings.against(checked.error().message);
    }
  }
  if (app.stopped())
    findings.reasons.emplace_back("interrupted: this is of what was measured so far");
  const bool undecided = findings.holds && findings.undecided;
  Json json = {{"holds", undecided ? Json(nullptr) : Json(findings.holds)},
               {"reasons", findings.reasons},
               {"interrupted", app.stopped()},
               {"baseline", subject.baseline.text},
               {"chosen", subject.chosen.text},
               {"same_machine", same_machine},
               {"proven", {{"speedup", subject.claim.speedup}, {"ci", to_json(subject.claim.ci)}}},
               {"comparison", findings.comparison ? to_json(*findings.comparison) : Json(nullptr)}};
  const Style style = app.style();
  std::string text =
      fmt::format("{}: {}\n", options.path,
                  undecided ? style.warning("interrupted, so whether the proof holds is open")
                  : findings.holds ? "the proof " + style.good("holds")
                                   : "the proof " + style.bad("does not hold"));
  for (const std::string& reason : findings.reasons) text += "  " + reason + "\n";
  if (findings.comparison) text += warnings_text(findings.comparison->warnings, style);
  HASTEN_CHECK(app.print(json, text));
  return app.exit_unless_stopped(findings.holds ? 0 : 1);
}

}  // namespace

void add_verify(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  cli.add_option("proof", options->path, "A bundle, or its proof.json")
      ->required()
      ->type_name("DIR|proof.json");
  cli.add_option("--seconds", options->seconds, "Of the fresh comparison, at most")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str()
      ->type_name("S");
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback(
      [&app, &run, options] { run = [&app, options] { return run_verify(app, *options); }; });
}

}  // namespace hasten
