// hasten diff A B: the first node at which two engines, or two models, compute something else.
#include <cmath>

#include "base/counted.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/diff_models.h"
#include "measure/diff_values.h"
#include "report/format.h"
#include "report/json.h"

namespace hasten {

namespace {

struct Options {
  std::string a, b;
  double tolerance = 1e-4;
};

Json to_json(const ValueDiff& d) {
  Json json = {{"node", d.node}, {"op", d.op}, {"value", d.value}};
  json["max_abs"] = std::isfinite(d.max_abs) && d.reason.empty() ? Json(d.max_abs) : Json(nullptr);
  json["max_rel"] = std::isfinite(d.max_rel) && d.reason.empty() ? Json(d.max_rel) : Json(nullptr);
  if (!d.reason.empty()) json["reason"] = d.reason;
  return json;
}

Result<TappedModel> load(App& app, const Target& target) {
  if (!target.model.ends_with(".onnx")) {
    return fail(Code::kUnsupported, "'{}' is no .onnx file: only those keep all inner values",
                target.model);
  }
  HASTEN_TRY(Graph graph, app.graph(target));
  return TappedModel{target.model, target.options, std::move(graph)};
}

Result<int> run_diff(App& app, const Options& options) {
  HASTEN_TRY(const Target a, app.target(options.a));
  HASTEN_TRY(const Target b, app.target(options.b));
  const MeasureControl control = app.control();
  HASTEN_TRY(const TappedModel side_a, load(app, a));
  HASTEN_TRY(const TappedModel side_b, load(app, b));
  Samples samples;
  std::vector<InputSet> sets_a, sets_b;
  OutputDiff outputs;  // of both as they are, passes and all
  {
    HASTEN_TRY(OpenedModel model_a, app.open(a));
    HASTEN_TRY(OpenedModel model_b, app.open(b));
    HASTEN_TRY(samples, app.inputs(a, model_a.engine->inputs()));
    HASTEN_TRY(sets_a, samples.sets(model_a.engine->inputs()));
    HASTEN_TRY(sets_b, sets_for_b(samples, b, model_b));
    HASTEN_TRY(outputs, diff_models(model_a, model_b, sets_a, sets_b, control));
  }
  HASTEN_TRY(Context * context, app.context());
  HASTEN_TRY(const ValueDiffs diffs,
             diff_values(*context, side_a, side_b, sets_a, sets_b, options.tolerance, control));

  const bool found = !diffs.different.empty();
  const bool whole = outputs.samples == static_cast<int64_t>(sets_a.size());
  const bool interrupted = diffs.interrupted || !whole;
  const bool outputs_agree =
      whole && outputs.max_rel.has_value() && *outputs.max_rel <= options.tolerance;
  const bool outputs_differ =
      outputs.samples > 0 && !(outputs.max_rel.value_or(HUGE_VAL) <= options.tolerance);
  Json json = {{"a", a.text}, {"b", b.text}, {"tolerance", options.tolerance}};
  // One that differs is a verdict, however few samples were run; that none does is none before all.
  json["ok"] = found || outputs_differ ? Json(false)
               : interrupted           ? Json(nullptr)
                                       : Json(outputs_agree);
  json["interrupted"] = interrupted;
  json["samples"] = diffs.samples;
  json["first"] = found ? to_json(diffs.different.front()) : Json(nullptr);
  json["compared"] = diffs.compared;
  json["different"] = Json::array();
  for (const ValueDiff& d : diffs.different) json["different"].push_back(to_json(d));
  json["outputs"] = hasten::to_json(outputs);

  const Style style = app.style();
  std::string text = fmt::format("{} compared, on {}\n", counted(diffs.compared, "inner value"),
                                 counted(diffs.samples, "sample"));
  if (found) {
    Table table("lllr");
    table.row({"node", "op", "value", "apart, of its scale"});
    constexpr size_t kRows = 12;
    for (size_t i = 0; i < diffs.different.size() && i < kRows; ++i) {
      const ValueDiff& d = diffs.different[i];
      table.row({shorten(d.node, 40), d.op, shorten(d.value, 40),
                 d.reason.empty() ? fmt::format("{:.3g}", d.max_rel) : d.reason});
    }
    text +=
        fmt::format("{} by more than {:g}; the first is {}\n",
                    diffs.different.size() == 1 ? "1 differs"
                                                : fmt::format("{} differ", diffs.different.size()),
                    options.tolerance, style.bold(diffs.different[0].node));
    text += table.text(style);
    if (diffs.different.size() > kRows) {
      text += fmt::format("and {} more, all behind these\n", diffs.different.size() - kRows);
    }
  } else if (diffs.samples > 0) {
    text += fmt::format("none differ by more than {:g} of their scale; the most by {:.3g}\n",
                        options.tolerance, diffs.worst_rel);
    if (outputs_differ) {
      text += "the answers do: what comes between is the passes (hasten check), or the options\n";
    }
  }
  if (interrupted) {
    text += style.warning(fmt::format("interrupted after {} of {}", diffs.samples,
                                      counted(sets_a.size(), "sample"))) +
            (found || outputs_differ ? "\n" : ": there is no verdict\n");
  }
  HASTEN_CHECK(app.print(json, text));
  return app.exit_unless_stopped(found || outputs_differ ? 1 : 0);
}

}  // namespace

void add_diff(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  cli.add_option("a", options->a, "MODEL[@key=value,...]")->required()->type_name("A");
  cli.add_option("b", options->b, "What to hold against it")->required()->type_name("B");
  cli.add_option("--tolerance", options->tolerance,
                 "How far values may be apart, as a part of the largest of A's")
      ->type_name("X")
      ->check(not_negative())
      ->capture_default_str();
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback(
      [&app, &run, options] { run = [&app, options] { return run_diff(app, *options); }; });
}

}  // namespace hasten
