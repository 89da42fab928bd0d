// hasten optimize MODEL -o DIR: the fastest way to run it, proven, as a bundle.
#include <filesystem>

#include "cli/app.h"
#include "cli/bundle.h"
#include "cli/commands.h"
#include "improve/optimize.h"
#include "measure/profile.h"
#include "report/html.h"
#include "report/proof_json.h"
#include "report/text.h"

namespace hasten {

namespace {

struct Options {
  std::string model, output;
  OptimizeOptions optimize;
};

/// What the model is optimized for must not be fixed by its target.
Status check_target(const Target& target) {
  const EngineOptions& o = target.options;
  if (target.text.find("@engine=") != std::string::npos ||
      target.text.find(",engine=") != std::string::npos || o.threads > 0 ||
      o.precision != Precision::kModel) {
    return fail(
        Code::kInvalidArgument,
        "'{}': optimize chooses engine, threads and precision itself; shape= and math= may be set",
        target.text);
  }
  if (target.model.ends_with(".hplan")) {
    return fail(Code::kInvalidArgument, "'{}': optimize starts from an .onnx file", target.text);
  }
  return {};
}

/// How the steps of our own engine spend their time; null where it can't run the model.
std::optional<Profile> native_profile(App& app, const Target& target, const EngineOptions& options,
                                      const Samples& samples, const Machine* machine,
                                      const MeasureControl& control) {
  auto context = app.context();
  if (!context) return std::nullopt;
  auto model = open_model(**context, target.model, options);
  if (!model) return std::nullopt;
  auto sets = samples.sets(model->engine->inputs());
  if (!sets) return std::nullopt;
  ProfileOptions profile_options;
  profile_options.seconds = 1;
  profile_options.threads = model->engine->threads();
  profile_options.machine = machine;
  profile_options.control = control;
  auto result = profile(*model->runner, *sets, profile_options);
  if (!result) return std::nullopt;
  result->target = options_text(options);
  result->engine = model->engine->version();
  return std::move(*result);
}

/// The native candidate that the report explains: the chosen one, else the best of those that lost.
EngineOptions native_options(const Proof& proof) {
  if (proof.chosen.options.kind == EngineKind::kNative) return proof.chosen.options;
  const Tried* best = nullptr;
  for (const Tried& t : proof.tried) {
    if (t.options.kind != EngineKind::kNative || !t.p50_ms) continue;
    if (best == nullptr || *t.p50_ms < *best->p50_ms) best = &t;
  }
  return best != nullptr ? best->options : EngineOptions();
}

std::vector<std::pair<std::string, std::string>> machine_facts(const Machine& m) {
  const CpuFacts& cpu = m.cpu;
  std::vector<std::pair<std::string, std::string>> facts = {
      {"CPU", cpu.model},
      {"threads", fmt::format("{} ({})", m.threads, m.why)},
      {"kernels", m.isa},
      {"caches", fmt::format("L1 {} KB, L2 {} KB, L3 {} MB", cpu.l1d_bytes >> 10,
                             cpu.l2_bytes >> 10, cpu.l3_bytes >> 20)}};
  auto add = [&facts](const char* name, const Peak& peak, const char* unit) {
    if (peak.one) {
      facts.emplace_back(name, peak.all ? fmt::format("{:.1f} {} on one thread, {:.1f} on all",
                                                      *peak.one, unit, *peak.all)
                                        : fmt::format("{:.1f} {} on one thread", *peak.one, unit));
    }
  };
  add("fp32 peak", m.fp32, "GFLOP/s");
  add("bf16 peak", m.bf16, "GFLOP/s");
  add("int8 peak", m.int8, "GOP/s");
  add("DRAM", m.dram, "GB/s");
  facts.emplace_back("fingerprint", m.fingerprint);
  return facts;
}

/// Writes everything beside the destination and puts it there at the end.
Status write_bundle(App& app, BundleWriter& bundle, const Target& target, const Proof& proof,
                    const Samples& samples, const HtmlReport& report,
                    const std::string& data_path) {
  HASTEN_CHECK(bundle.add_model(target.model));
  EngineOptions chosen = proof.chosen.options;
  chosen.memory_limit = 0;
  std::string name = "model.onnx";
  if (chosen.kind == EngineKind::kNative) {
    Target native = target;
    native.options = chosen;
    HASTEN_TRY(OpenedModel model, app.open(native));
    HASTEN_TRY(const auto sets, samples.sets(model.engine->inputs()));
    HASTEN_CHECK(model.runner->bind(sets[0]));
    HASTEN_CHECK(model.runner->run());  // weights are packed when they are first needed
    HASTEN_CHECK(bundle.add_plan(static_cast<NativeEngine&>(*model.engine), proof.model_hash));
    name = "model.hplan";
    chosen.shapes.clear();  // they are in the plan
  }
  HASTEN_CHECK(bundle.add_inputs(samples));
  Json json = to_json(proof);
  json["data_path"] = data_path;
  HASTEN_CHECK(bundle.add_text("proof.json",
                               json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  HASTEN_CHECK(bundle.add_text("report.html", html_report(report)));
  return bundle.commit(name + "@" + options_text(chosen), proof.fingerprint);
}

Result<int> run_optimize(App& app, const Options& options) {
  HASTEN_TRY(Target target, app.target(options.model));
  if (auto fits = check_target(target); !fits) return app.usage(fits.error().message);
  auto opened = BundleWriter::open(options.output);
  if (!opened && opened.error().code == Code::kInvalidArgument)
    return app.usage(opened.error().message);
  if (!opened) return fail(std::move(opened.error()));
  BundleWriter bundle = std::move(*opened);
  HASTEN_TRY(Context * context, app.context());
  const MeasureControl control = app.control();

  HASTEN_TRY(const Graph graph, app.graph(target));
  std::vector<Port> ports;
  for (ValueId id : graph.main.inputs) {
    const Value& v = graph.value(id);
    ports.push_back({v.name, v.dtype, v.has_shape, v.shape});
  }
  OptimizeOptions optimize_options = options.optimize;
  optimize_options.math = target.options.math;
  optimize_options.shapes = target.options.shapes;
  optimize_options.memory_limit = app.memory_limit();
  optimize_options.control = control;
  Target baseline = target;
  baseline.options = optimize_candidates(*context, optimize_options)[0];
  HASTEN_TRY(const Samples samples, app.inputs(baseline, ports));
  HASTEN_TRY(const std::vector<InputSet> sets, samples.sets(ports));

  HASTEN_TRY(const Machine machine, cached_machine(*context, control));
  HASTEN_TRY(Proof proof, optimize(*context, target.model, sets, optimize_options));
  std::error_code ignored;
  const std::string data = app.request().data;
  const std::string data_path =
      data.empty() ? "" : std::filesystem::absolute(data, ignored).string();
  proof.model_path = std::filesystem::absolute(target.model, ignored).string();
  proof.data = data.empty() ? fmt::format("made up, seed {}: {}", app.request().seed,
                                          fmt::join(samples.assumed, "; "))
                            : fmt::format("{}: {} samples", data, samples.rows.size());

  Json json = to_json(proof);
  json["bundle"] = nullptr;
  std::optional<Profile> profiled;
  if (!proof.interrupted && !app.stopped())
    profiled = native_profile(app, target, native_options(proof), samples, &machine, control);
  if (proof.interrupted || app.stopped()) {
    HASTEN_CHECK(app.print(json, proof_text(proof, app.style())));
    return 130;
  }
  HtmlReport report;
  report.proof = &proof;
  report.profile = profiled ? &*profiled : nullptr;
  report.machine = machine_facts(machine);
  const Status written = write_bundle(app, bundle, target, proof, samples, report, data_path);
  if (!written) {  // the search took minutes: what it found is told all the same
    HASTEN_CHECK(app.print(json, proof_text(proof, app.style())));
    return app.note_failure(
        {written.error().code, "no bundle was written: " + written.error().message});
  }
  json["bundle"] = options.output;
  HASTEN_CHECK(app.print(
      json, proof_text(proof, app.style()) + fmt::format("  bundle: {}\n  report: {}/report.html\n",
                                                         options.output, options.output)));
  return 0;
}

}  // namespace

void add_optimize(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  cli.add_option("model", options->model, "MODEL[@shape=NAME:DIMS,math=exact]")
      ->required()
      ->type_name("MODEL");
  cli.add_option("-o,--output", options->output, "The bundle's folder")
      ->required()
      ->type_name("DIR");
  cli.add_option("--seconds", options->optimize.seconds, "Of a full comparison, at most")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str()
      ->type_name("S");
  cli.add_option("--alpha", options->optimize.alpha, "The chance that the interval misses")
      ->check(CLI::Range(1e-6, 0.5))
      ->capture_default_str()
      ->type_name("P");
  cli.add_option("--threads", options->optimize.max_threads, "Candidates run on 1 to N threads")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback(
      [&app, &run, options] { run = [&app, options] { return run_optimize(app, *options); }; });
}

}  // namespace hasten
