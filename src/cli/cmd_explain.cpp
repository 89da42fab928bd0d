// hasten explain TARGET: the plan step by step.
#include "cli/app.h"
#include "cli/commands.h"
#include "report/format.h"

namespace hasten {

namespace {

Json step_json(const StepInfo& step, size_t index) {
  Json refused = Json::array();
  for (const auto& [kernel, reason] : step.refused)
    refused.push_back({{"kernel", kernel}, {"reason", reason}});
  return {{"step", index},           {"name", step.name},           {"op", step.op},
          {"kernel", step.kernel},   {"reference", step.reference}, {"inputs", step.inputs},
          {"outputs", step.outputs}, {"flops", step.flops},         {"bytes", step.bytes},
          {"refused", refused}};
}

std::string step_text(const StepInfo& step, size_t index, const Style& style) {
  std::string text = fmt::format("{:4} {} {} -> {}", index, style.bold(step.op),
                                 shorten(step.name, 48), step.kernel);
  if (step.flops > 0) text += style.dim("  " + format_flops(step.flops));
  if (step.bytes > 0) text += style.dim(fmt::format("  {}", format_bytes(step.bytes)));
  text += "\n";
  text += style.dim(
      fmt::format("     {} -> {}\n", fmt::join(step.inputs, ", "), fmt::join(step.outputs, ", ")));
  for (const auto& [kernel, reason] : step.refused) {
    text += fmt::format("     {} {}: {}\n", style.warning("not"), kernel, reason);
  }
  return text;
}

Result<int> run_explain(App& app, const std::string& text) {
  HASTEN_TRY(const Target target, app.target(text));
  HASTEN_TRY(OpenedModel model, app.open(target));
  HASTEN_TRY(const Samples samples, app.inputs(target, model.engine->inputs()));
  HASTEN_TRY(const std::vector<InputSet> sets, samples.sets(model.engine->inputs()));
  HASTEN_CHECK(model.runner->bind(sets[0]));
  HASTEN_CHECK(model.runner->run());  // what depends on data is planned while it runs
  const std::vector<StepInfo> steps = model.engine->steps(*model.runner);
  if (steps.empty() && target.options.kind != EngineKind::kNative) {
    return fail(Code::kUnsupported,
                "engine {} doesn't tell its steps; explain works with engine=native",
                engine_kind_name(target.options.kind));
  }
  Json json = {{"target", target.text},
               {"engine", model.engine->version()},
               {"threads", model.engine->threads()},
               {"steps", Json::array()}};
  std::string out;
  size_t references = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    json["steps"].push_back(step_json(steps[i], i));
    out += step_text(steps[i], i, app.style());
    references += steps[i].reference ? 1 : 0;
  }
  out += fmt::format("{} steps", steps.size());
  if (references > 0) out += fmt::format(", {} of them on the plain-loop reference", references);
  json["assumed"] = samples.assumed;
  HASTEN_CHECK(app.print(json, out + "\n"));
  return 0;
}

}  // namespace

void add_explain(CLI::App& cli, App& app, Run& run) {
  auto target = std::make_shared<std::string>();
  cli.add_option("target", *target, "MODEL[@key=value,...]")->required()->type_name("TARGET");
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback(
      [&app, &run, target] { run = [&app, target] { return run_explain(app, *target); }; });
}

}  // namespace hasten
