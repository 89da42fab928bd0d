// hasten plan TARGET -o FILE.hplan: a model in the form that opens at once.
#include "base/mapped_file.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "engine/exec/native.h"
#include "engine/plan/plan_file.h"
#include "report/format.h"

namespace hasten {

namespace {

struct Options {
  std::string target, output;
};

Status check_target(const Target& target, const std::string& output) {
  const EngineOptions& o = target.options;
  if (target.model.ends_with(".hplan")) {
    return fail(Code::kInvalidArgument, "'{}' is a plan already: name the .onnx file",
                target.model);
  }
  if (o.kind != EngineKind::kNative) {
    return fail(Code::kInvalidArgument,
                "'{}': engine={} has no plan files; leave engine= out, or take engine=native",
                target.text, engine_kind_name(o.kind));
  }
  if (!output.ends_with(".hplan")) {
    return fail(Code::kInvalidArgument, "-o {}: the file's name must end in .hplan", output);
  }
  return {};
}

Result<int> run_plan(App& app, const Options& options) {
  HASTEN_TRY(const Target target, app.target(options.target));
  if (auto fits = check_target(target, options.output); !fits)
    return app.usage(fits.error().message);
  HASTEN_TRY(OpenedModel model, app.open(target));
  const auto& native = static_cast<const NativeEngine&>(*model.engine);
  HASTEN_TRY(const Samples samples, app.inputs(target, native.inputs()));
  HASTEN_TRY(const std::vector<InputSet> sets, samples.sets(native.inputs()));
  HASTEN_CHECK(model.runner->bind(sets[0]));
  HASTEN_CHECK(model.runner->run());  // weights are packed when they are first needed

  const std::string isa = isa_name(native.context().isa());
  HASTEN_TRY(const MappedFile onnx, MappedFile::open(target.model));
  const std::string model_hash = hash_hex(onnx.bytes());
  HASTEN_CHECK(onnx.check_intact());
  const bool exact = native.options().math == MathMode::kExact;
  HASTEN_CHECK(save_plan(options.output, native.graph(), native.packed(), isa, model_hash, exact));

  // What was written is read back whole once, and then opened as a run would.
  HASTEN_TRY(const MappedFile file, MappedFile::open(options.output));
  HASTEN_TRY(const PlanFile verified, load_plan(options.output, isa, true));
  EngineOptions as_saved;
  as_saved.math = native.options().math;
  as_saved.threads = native.threads();
  HASTEN_TRY(const OpenedModel opened, open_model(native.context(), options.output, as_saved));

  const Json json = {{"target", target.text},
                     {"engine", native.version()},
                     {"path", options.output},
                     {"bytes", file.bytes().size()},
                     {"packed_bytes", native.packed().bytes()},
                     {"isa", isa},
                     {"math", exact ? "exact" : "fast"},
                     {"model_hash", verified.model_hash},
                     {"load_ms", model.load_ms},
                     {"open_ms", opened.load_ms},
                     {"assumed", samples.assumed}};
  HASTEN_CHECK(app.print(
      json,
      fmt::format("{}\n  {}, {} of them packed weights, for {}\n  opens in {}; the model in {}\n",
                  app.style().bold(options.output),
                  format_bytes(static_cast<double>(file.bytes().size())),
                  format_bytes(static_cast<double>(native.packed().bytes())), isa,
                  format_ms(opened.load_ms), format_ms(model.load_ms))));
  return 0;
}

}  // namespace

void add_plan(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  cli.add_option("target", options->target, "MODEL[@shape=NAME:DIMS,math=exact]")
      ->required()
      ->type_name("TARGET");
  cli.add_option("-o,--output", options->output, "The plan file")
      ->required()
      ->type_name("FILE.hplan");
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback(
      [&app, &run, options] { run = [&app, options] { return run_plan(app, *options); }; });
}

}  // namespace hasten
