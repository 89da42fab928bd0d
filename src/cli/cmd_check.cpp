// hasten check TARGET: every pass on and off on the same inputs.
#include <cmath>

#include "base/counted.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "measure/check_passes.h"
#include "report/format.h"

namespace hasten {

namespace {

struct Options {
  std::string target;
  int samples = 3;
  bool samples_given = false;
};

/// JSON has no infinity.
Json finite_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json to_json(const PassCheck& p) {
  Json json = {{"name", p.name},
               {"ok", p.ok},
               {"max_err", finite_or_null(p.max_err)},
               {"allowed", p.allowed},
               {"changes", p.changes},
               {"without", p.without ? finite_or_null(*p.without) : Json(nullptr)}};
  if (p.behind_rounding) json["behind_rounding"] = finite_or_null(*p.behind_rounding);
  if (!p.reason.empty()) json["reason"] = p.reason;
  return json;
}

/// What was cut out and why, for people.
std::string note_of(const CheckResult& result) {
  const CutCheck& cut = *result.cut;
  std::string ops;
  for (const auto& [op, count] : cut.ops) {
    ops += fmt::format("{}{} {}", ops.empty() ? "" : ", ", count, op);
  }
  return fmt::format(
      "outputs move by {:.2g}{} behind {} that {} or {} ({}); the table is of what lies between "
      "them, with the same inputs for each stretch, on {} of {}",
      cut.max_err, result.ok() ? ", but only" : "", counted(cut.nodes, "node"),
      cut.nodes == 1 ? "rounds" : "round", cut.nodes == 1 ? "decides" : "decide", ops, cut.samples,
      counted(result.samples, "sample"));
}

/// The verdict, or that an interruption came before it.
std::string verdict_text(const CheckResult& result) {
  const std::optional<bool> verdict = result.verdict();
  if (verdict) {
    return *verdict ? fmt::format("every pass keeps the answers of {}\n",
                                  counted(result.samples, "sample"))
                    : "a pass changes answers beyond its bound\n";
  }
  if (result.passes.empty())
    return "interrupted before a pass was checked, so there is no verdict\n";
  size_t without = 0;
  for (const PassCheck& p : result.passes) without += p.without.has_value();
  return fmt::format(
      "interrupted, so there is no verdict: {} of {} put on and {} left out so far, {}\n",
      result.passes.size(), counted(result.planned, "pass", "passes"), without,
      result.ok() ? "and none changed an answer beyond its bound"
                  : "and whether roundings excuse the differences wasn't checked");
}

/// Samples made up with several seeds, or all that were given.
Result<std::vector<Samples>> gather(App& app, const Target& target, const std::vector<Port>& ports,
                                    int count) {
  const InputRequest request = app.request();
  const bool given = !request.data.empty() || !request.inputs.empty();
  std::vector<Samples> all;
  for (int i = 0; i < (given ? 1 : count); ++i) {
    InputRequest next = request;
    next.seed += static_cast<uint64_t>(i);
    app.set_request(std::move(next));
    HASTEN_TRY(all.emplace_back(), app.inputs(target, ports));
  }
  app.set_request(request);
  return all;
}

Result<int> run_check(App& app, const Options& options) {
  HASTEN_TRY(Target target, app.target(options.target));
  if (target.options.kind != EngineKind::kNative) {
    return fail(Code::kUnsupported,
                "engine {} has no passes of ours; check works with "
                "engine=native",
                engine_kind_name(target.options.kind));
  }
  const MeasureControl control = app.control();
  HASTEN_TRY(const Graph graph, app.graph(target));
  Target plain = target;
  plain.options.enable_passes = false;
  HASTEN_TRY(const OpenedModel model, app.open(plain));
  const std::vector<Port>& ports = model.engine->inputs();
  HASTEN_TRY(const std::vector<Samples> samples, gather(app, plain, ports, options.samples));
  std::vector<InputSet> sets;
  for (const Samples& s : samples) {
    HASTEN_TRY(std::vector<InputSet> more, s.sets(ports));
    sets.insert(sets.end(), more.begin(), more.end());
  }
  if (options.samples_given && sets.size() > static_cast<size_t>(options.samples))
    sets.resize(static_cast<size_t>(options.samples));
  HASTEN_TRY(Context * context, app.context());
  HASTEN_TRY(const CheckResult result,
             check_passes(*context, graph, target.options, sets, control));

  Json json = {{"target", target.text},
               {"ok", result.verdict() ? Json(*result.verdict()) : Json(nullptr)},
               {"interrupted", result.interrupted},
               {"samples", result.samples},
               {"passes", Json::array()}};
  const Style style = app.style();
  Table table("lrrrl");
  table.row({"pass", "places", "moves outputs by", "allowed", ""});
  for (const PassCheck& p : result.passes) {
    json["passes"].push_back(to_json(p));
    table.row({p.name, fmt::format("{}", p.changes),
               p.max_err == 0 ? "not a bit" : fmt::format("{:.2g}", p.max_err),
               p.allowed == 0 ? "not a bit" : fmt::format("{:.2g}", p.allowed),
               p.ok ? "ok" : style.warning("NO: " + p.reason)});
  }
  std::string text = table.text(style);
  if (result.cut) {
    json["rounding"] = {{"nodes", result.cut->nodes},
                        {"ops", result.cut->ops},
                        {"samples", result.cut->samples},
                        {"max_err", finite_or_null(result.cut->max_err)}};
    json["note"] = note_of(result);
    text += "note: " + note_of(result) + "\n";
  }
  text += verdict_text(result);
  HASTEN_CHECK(app.print(json, text));
  return app.exit_unless_stopped(result.ok() ? 0 : 1);
}

}  // namespace

void add_check(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  cli.add_option("target", options->target, "MODEL[@key=value,...]")
      ->required()
      ->type_name("TARGET");
  auto* samples = cli.add_option("--samples", options->samples,
                                 "How many inputs to make up, or, if given, to take of --data")
                      ->type_name("N")
                      ->check(CLI::Range(1, 1000))
                      ->capture_default_str();
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback([&app, &run, options, samples] {
    options->samples_given = samples->count() > 0;
    run = [&app, options] { return run_check(app, *options); };
  });
}

}  // namespace hasten
