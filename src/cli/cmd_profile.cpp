// hasten profile TARGET: where the time goes.
#include <filesystem>

#include "base/mapped_file.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "measure/profile.h"
#include "report/chrome_trace.h"
#include "report/folded.h"
#include "report/profile_json.h"
#include "report/text.h"

namespace hasten {

namespace {

struct Options {
  std::string target, against, trace, folded;
  int64_t runs = 0;
  double seconds = 2;
  bool all = false;
};

/// Keeps the steps of one run as a timeline.
class Timeline : public Observer {
 public:
  void run_begin(int64_t now_ns) override { begin_ns_ = now_ns; }
  void step(const StepInfo& step, int64_t begin_ns, int64_t end_ns) override {
    events.push_back({step.name.empty() ? step.op : step.name,
                      step.op,
                      begin_ns,
                      end_ns,
                      1,
                      {{"kernel", step.kernel},
                       {"in", fmt::format("{}", fmt::join(step.inputs, ", "))},
                       {"out", fmt::format("{}", fmt::join(step.outputs, ", "))}}});
  }
  void run_end(int64_t now_ns) override {
    events.insert(events.begin(), {"run", "run", begin_ns_, now_ns, 1, {}});
  }
  std::vector<TraceEvent> events;

 private:
  int64_t begin_ns_ = 0;
};

struct Profiled {
  Profile profile;
  double load_ms = 0;
  std::vector<std::string> assumed;
  std::string trace;
};

/// Before anything takes time: is there a folder for this file? Error: io.
Status check_folder(const std::string& file) {
  if (file.empty()) return {};
  const auto parent = std::filesystem::absolute(file).parent_path();
  std::error_code ignored;
  if (!std::filesystem::is_directory(parent, ignored))
    return fail(Code::kIo, "cannot write '{}': there is no folder '{}'", file, parent.string());
  return {};
}

Result<Profiled> profile_target(App& app, const std::string& text, const Options& options,
                                const Machine* machine, const MeasureControl& control, bool first) {
  HASTEN_TRY(const Target target, app.target(text));
  HASTEN_TRY(OpenedModel model, app.open(target));
  HASTEN_TRY(const Samples samples, app.inputs(target, model.engine->inputs()));
  HASTEN_TRY(const std::vector<InputSet> sets, samples.sets(model.engine->inputs()));
  ProfileOptions profile_options;
  profile_options.runs = options.runs;
  profile_options.seconds = options.seconds;
  profile_options.threads = model.engine->threads();
  profile_options.machine = machine;
  profile_options.steps_needed = first;
  profile_options.control = control;
  Profiled profiled;
  HASTEN_TRY(profiled.profile, profile(*model.runner, sets, profile_options));
  profiled.profile.target = target.text;
  profiled.profile.engine = model.engine->version();
  profiled.load_ms = model.load_ms;
  profiled.assumed = samples.assumed;
  if (first && !options.trace.empty()) {
    Timeline timeline;
    HASTEN_CHECK(model.runner->bind(sets[0]));
    HASTEN_CHECK(model.runner->run(&timeline));
    profiled.trace = chrome_trace(timeline.events, target.text);
  }
  return profiled;
}

/// What --against names, as far as it can be known before anything takes time: the profile in a
/// file, or nothing where it is a target to be measured. Errors: its own.
Result<std::optional<Profile>> saved_profile(App& app, const Options& options) {
  if (options.against.ends_with(".json")) {
    HASTEN_TRY(const std::string text, read_file(options.against));
    HASTEN_TRY(Profile saved, profile_from_json(text, options.against));
    return saved;
  }
  if (!options.against.empty()) {
    HASTEN_TRY(const Target other, app.target(options.against));
    HASTEN_TRY(const MappedFile exists, MappedFile::open(other.model));
    const auto graph = app.graph(other);
    if (!graph && graph.error().code == Code::kInvalidModel) {
      return fail(Code::kInvalidModel, "--against {} is neither a model nor a .json profile: {}",
                  options.against, graph.error().message);
    }
  }
  return std::nullopt;
}

/// The profile of the other target.
Result<Profile> other_profile(App& app, const Options& options, const Machine* machine,
                              const MeasureControl& control) {
  HASTEN_TRY(Profiled other,
             profile_target(app, options.against, options, machine, control, false));
  return std::move(other.profile);
}

Result<int> run_profile(App& app, const Options& options) {
  const MeasureControl control = app.control();
  HASTEN_TRY(Context * context, app.context());
  HASTEN_TRY(const Target checked, app.target(options.target));  // before anything takes time
  HASTEN_TRY(std::optional<Profile> saved, saved_profile(app, options));
  HASTEN_CHECK(check_folder(options.trace));
  HASTEN_CHECK(check_folder(options.folded));
  HASTEN_TRY(const Machine machine, cached_machine(*context, control));
  HASTEN_TRY(const Profiled profiled,
             profile_target(app, options.target, options, &machine, control, true));
  const Profile& result = profiled.profile;
  Json json = to_json(result);
  // The stages around the ops: what is paid once, and what each run costs.
  json["stages"] = Json::array({{{"name", "load"}, {"ms", profiled.load_ms}},
                                {{"name", "first run"}, {"ms", result.first_ms}},
                                {{"name", "run"}, {"ms", result.plain_wall_ms}}});
  json["assumed"] = profiled.assumed;
  std::string out = app.style().bold(checked.text) +
                    fmt::format("\n{}, load {:.1f} ms\n", result.engine, profiled.load_ms) +
                    text(result, options.all ? 0 : 20);
  // A full disk must not take away what was measured: it is printed first.
  Status written;
  if (!options.trace.empty()) written = write_file_atomic(options.trace, profiled.trace);
  if (written && !options.folded.empty())
    written = write_file_atomic(options.folded, folded_stacks(result));
  if (!options.against.empty() && !app.stopped()) {
    Result<Profile> other =
        saved ? std::move(*saved) : other_profile(app, options, &machine, control);
    if (!other) {  // what was measured is told all the same
      json["against"] = nullptr;
      HASTEN_CHECK(app.print(json, out));
      return app.note_failure({other.error().code, fmt::format("--against {}: {}", options.against,
                                                               other.error().message)});
    }
    const ProfileDiff difference = diff(*other, result);
    json["against"] = to_json(difference);
    json["against"]["a"] = options.against;
    out += fmt::format("\nA is {}, B is {}\n{}", options.against, options.target, text(difference));
  }
  HASTEN_CHECK(app.print(json, out));
  return app.exit_unless_stopped(written ? 0 : app.note_failure(written.error()));
}

}  // namespace

void add_profile(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  cli.add_option("target", options->target, "MODEL[@key=value,...]")
      ->required()
      ->type_name("TARGET");
  cli.add_option("--against", options->against,
                 "A profile saved with --json as FILE.json, or another target")
      ->type_name("FILE|TARGET");
  cli.add_option("--trace", options->trace,
                 "Write the timeline of one run for chrome://tracing or Perfetto")
      ->type_name("FILE");
  cli.add_option("--folded", options->folded, "Write folded stacks for flame graphs")
      ->type_name("FILE");
  auto* runs = cli.add_option("--runs", options->runs, "Observed runs")
                   ->check(CLI::Range(int64_t{1}, int64_t{10'000'000}))
                   ->type_name("N");
  cli.add_option("--seconds", options->seconds, "How long to measure, at least 7 runs")
      ->check(CLI::Range(0.001, 1e6))
      ->excludes(runs)
      ->capture_default_str()
      ->type_name("S");
  cli.add_flag("--all", options->all, "All ops, not only the 20 that take longest");
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback(
      [&app, &run, options] { run = [&app, options] { return run_profile(app, *options); }; });
}

}  // namespace hasten
