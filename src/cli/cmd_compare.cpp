// hasten compare A B: is B faster, and do both say the same?
#include <filesystem>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/diff_models.h"
#include "measure/compare.h"
#include "report/json.h"
#include "report/text.h"

namespace hasten {

namespace {

struct Options {
  std::string a, b;
  CompareOptions compare;
};

/// A target without the folders of its model, and the engine's version.
std::string label(const Target& target, const std::string& version) {
  const std::string options =
      target.text.substr(std::min(target.text.size(), target.text.rfind('@')));
  const std::string path = target.text.substr(0, target.text.size() - options.size());
  const std::string name = std::filesystem::path(path).filename().string();
  return fmt::format("{}{} ({})", name.empty() ? path : name, options, version);
}

Json side_json(const Target& target, const std::string& version, int threads,
               const BenchResult& result) {
  Json json = {{"target", target.text}, {"engine", version}, {"threads", threads}};
  json.update(to_json(result));
  return json;
}

Result<int> run_compare(App& app, const Options& options) {
  HASTEN_TRY(const Target a, app.target(options.a));
  HASTEN_TRY(const Target b, app.target(options.b));
  const MeasureControl control = app.control();
  Samples samples;
  std::vector<InputSet> sets_a, sets_b;
  OutputDiff outputs;
  std::string version_a, version_b;
  int threads_a = 1, threads_b = 1;
  {
    HASTEN_TRY(OpenedModel model_a, app.open(a));
    HASTEN_TRY(OpenedModel model_b, app.open(b));
    HASTEN_TRY(samples, app.inputs(a, model_a.engine->inputs()));
    HASTEN_TRY(sets_a, samples.sets(model_a.engine->inputs()));
    HASTEN_TRY(sets_b, sets_for_b(samples, b, model_b));
    HASTEN_TRY(outputs, diff_models(model_a, model_b, sets_a, sets_b, control));
    version_a = model_a.engine->version();
    version_b = model_b.engine->version();
    threads_a = model_a.engine->threads();
    threads_b = model_b.engine->threads();
  }  // neither may stand in memory, or spin, beside what is measured
  HASTEN_TRY(Context * context, app.context());
  CompareOptions compare_options = options.compare;
  compare_options.control = control;
  HASTEN_TRY(Comparison result,
             compare(instance_opener(*context, a.model, a.options, sets_a),
                     instance_opener(*context, b.model, b.options, sets_b), compare_options));
  result.outputs = outputs;

  Json json = {{"a", side_json(a, version_a, threads_a, result.a)},
               {"b", side_json(b, version_b, threads_b, result.b)}};
  json.update(to_json(result));
  json["assumed"] = samples.assumed;
  HASTEN_CHECK(
      app.print(json, compare_text(result, label(a, version_a), label(b, version_b), app.style())));
  return result.interrupted ? 130 : 0;
}

}  // namespace

void add_compare(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CompareOptions& compare = options->compare;
  cli.add_option("a", options->a, "MODEL[@key=value,...], the baseline")
      ->required()
      ->type_name("A");
  cli.add_option("b", options->b, "MODEL[@key=value,...]")->required()->type_name("B");
  cli.add_option("--seconds", compare.seconds,
                 "Stop then, but not before one round of fresh instances is whole")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str()
      ->type_name("S");
  cli.add_option("--alpha", compare.alpha, "The chance that the interval misses")
      ->check(CLI::Range(1e-6, 0.5))
      ->capture_default_str()
      ->type_name("P");
  cli.add_option("--margin", compare.margin, "Within 1 +- this counts as the same")
      ->check(CLI::Range(0.0, 0.5))
      ->capture_default_str()
      ->type_name("X");
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback(
      [&app, &run, options] { run = [&app, options] { return run_compare(app, *options); }; });
}

}  // namespace hasten
