// hasten bench TARGET: the latency of a model; with --problems, that of single operators.
#include "cli/app.h"
#include "cli/bench_problems.h"
#include "cli/commands.h"
#include "measure/bench.h"
#include "report/json.h"
#include "report/text.h"

namespace hasten {

namespace {

struct Options {
  std::string target;
  int64_t runs = 0;
  double seconds = 0, rate = 0;
  bool samples = false;
  ProblemRequest problems;
};

Result<int> run_bench(App& app, const Options& options) {
  if (!options.problems.files.empty()) {
    ProblemRequest request = options.problems;
    request.seconds = options.seconds;
    return bench_problems(app, request);
  }
  if (options.target.empty())
    return app.usage("bench: a TARGET is missing, or --problems FILE (hasten bench --help)");
  HASTEN_TRY(const Target target, app.target(options.target));
  HASTEN_TRY(OpenedModel model, app.open(target));
  HASTEN_TRY(const Samples samples, app.inputs(target, model.engine->inputs()));
  HASTEN_TRY(const std::vector<InputSet> sets, samples.sets(model.engine->inputs()));
  BenchOptions bench_options;
  bench_options.runs = options.runs;
  bench_options.seconds = options.seconds;
  bench_options.rate = options.rate;
  bench_options.load_ms = model.load_ms;
  bench_options.control = app.control();
  HASTEN_TRY(const BenchResult result, bench(*model.runner, sets, bench_options));

  Json json = {{"target", target.text},
               {"engine", model.engine->version()},
               {"threads", model.engine->threads()}};
  json.update(to_json(result));
  if (options.samples) json["samples_ms"] = result.samples_ms;
  json["assumed"] = samples.assumed;
  HASTEN_CHECK(app.print(json, fmt::format("{}\n  {}, {} thread{}\n", app.style().bold(target.text),
                                           model.engine->version(), model.engine->threads(),
                                           model.engine->threads() == 1 ? "" : "s") +
                                   bench_text(result, app.style())));
  return result.interrupted ? 130 : 0;
}

}  // namespace

void add_bench(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  auto* target = cli.add_option("target", options->target, "MODEL[@key=value,...]");
  target->type_name("TARGET");
  auto* runs = cli.add_option("--runs", options->runs, "Steady runs to measure")
                   ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}))
                   ->type_name("N");
  cli.add_option("--seconds", options->seconds,
                 "How long to measure (3 by default, 0.2 for each problem), at least 7 runs")
      ->check(CLI::Range(0.001, 1e6))
      ->excludes(runs)
      ->type_name("S");
  auto* rate = cli.add_option("--rate", options->rate,
                              "Begin so many runs a second, whether or not the one before is done")
                   ->check(CLI::Range(0.001, 1e6))
                   ->type_name("R");
  cli.add_flag("--samples", options->samples, "With --json: every steady run, in order of time");
  app.add_inputs(cli);
  auto* group = cli.add_option_group("Problems", "Single operators in place of a model");
  ProblemRequest& problems = options->problems;
  auto* files = group
                    ->add_option("--problems", problems.files,
                                 "Lists of operators with shapes, one a line (see bench/ops)")
                    ->excludes(target)
                    ->excludes(runs)
                    ->excludes(cli.get_option("--input"))
                    ->excludes(cli.get_option("--data"))
                    ->excludes(rate)
                    ->type_name("FILE");
  group->add_option("--filter", problems.filter, "Only lines that have this text in them")
      ->needs(files)
      ->type_name("TEXT");
  group->add_option("--threads", problems.threads, "To run them on")
      ->needs(files)
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->type_name("N");
  group->add_option("--math", problems.math, "exact: no Winograd, whatever a line says")
      ->needs(files)
      ->check(CLI::IsMember({"fast", "exact"}).description(""))
      ->type_name("fast|exact");
  group->add_flag("--check", problems.check_only, "One run each: are the answers right?")
      ->needs(files);
  app.add_common(cli);
  cli.callback(
      [&app, &run, options] { run = [&app, options] { return run_bench(app, *options); }; });
}

}  // namespace hasten
