// hasten show TARGET --stage=ir|opt|plan: a model as text.
#include "cli/app.h"
#include "cli/commands.h"
#include "engine/exec/native.h"
#include "engine/ir/text.h"

namespace hasten {

namespace {

struct Options {
  std::string target, stage = "opt";
};

Result<std::string> show(App& app, const Target& target, const std::string& stage) {
  if (stage == "ir") {
    HASTEN_TRY(const Graph graph, app.graph(target));
    return print_graph(graph);
  }
  if (target.options.kind != EngineKind::kNative) {
    return fail(Code::kUnsupported,
                "engine {} doesn't tell its stages; show works with engine=native",
                engine_kind_name(target.options.kind));
  }
  HASTEN_TRY(OpenedModel model, app.open(target));
  auto& native = static_cast<NativeEngine&>(*model.engine);
  if (stage == "opt") return print_graph(native.graph());
  HASTEN_TRY(const Samples samples, app.inputs(target, native.inputs()));
  HASTEN_TRY(const std::vector<InputSet> sets, samples.sets(native.inputs()));
  HASTEN_TRY(const auto segment, native.plans().get(sets[0]));
  return print_segment(*segment);
}

Result<int> run_show(App& app, const Options& options) {
  HASTEN_TRY(const Target target, app.target(options.target));
  HASTEN_TRY(const std::string text, show(app, target, options.stage));
  HASTEN_CHECK(
      app.print({{"target", target.text}, {"stage", options.stage}, {"text", text}}, text));
  return 0;
}

}  // namespace

void add_show(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  cli.add_option("target", options->target, "MODEL[@key=value,...]")
      ->required()
      ->type_name("TARGET");
  cli.add_option("--stage", options->stage,
                 "ir: as loaded; opt: after the passes; plan: steps and memory for these inputs")
      ->check(CLI::IsMember({"ir", "opt", "plan"}))
      ->capture_default_str();
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback(
      [&app, &run, options] { run = [&app, options] { return run_show(app, *options); }; });
}

}  // namespace hasten
