// hasten run TARGET: one inference.
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/counted.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "engine/ir/npy.h"
#include "engine/ir/text.h"
#include "engine/ops/numbers.h"
#include "report/format.h"

namespace hasten {

namespace {

struct Options {
  std::string target, output;
  int64_t sample = 0;
};

/// "<output name>.npy", with `/` replaced: names may be paths.
std::string file_name(std::string name) {
  for (char& c : name) {
    if (c == '/' || c == '\0') c = '_';
  }
  return name + ".npy";
}

/// An output, or a tensor of one that is a sequence: then "<output name>[<position>]".
struct Output {
  std::string name;
  TensorView tensor;
};

void add_output(const std::string& name, const TensorView& view, std::vector<Output>& out) {
  if (view.dtype != DType::kSequence && view.dtype != DType::kOptional) {
    out.push_back({name, view});
    return;
  }
  for (int64_t i = 0; i < view.count(); ++i) {
    add_output(fmt::format("{}[{}]", name, i), view.as<Tensor>()[i].view(), out);
  }
}

/// Writes every output or, on an error, none.
Result<std::vector<std::string>> save_outputs(const std::string& folder,
                                              const std::vector<Output>& outputs) {
  std::set<std::string> names;
  for (const Output& output : outputs) {
    if (!names.insert(file_name(output.name)).second) {
      return fail(Code::kInvalidArgument, "two outputs would be saved as '{}'",
                  file_name(output.name));
    }
  }
  std::error_code error;
  const bool made = std::filesystem::create_directories(folder, error);
  if (error) return fail(Code::kIo, "cannot make folder '{}': {}", folder, error.message());
  std::vector<std::string> files;
  for (const Output& output : outputs) {
    const std::string path = folder + "/" + file_name(output.name);
    if (auto written = write_npy(path, output.tensor); !written) {
      for (const std::string& file : files) std::filesystem::remove(file, error);
      if (made) std::filesystem::remove(folder, error);
      return fail(std::move(written.error()));
    }
    files.push_back(path);
  }
  return files;
}

constexpr int64_t kShownValues = 8;

/// As many as the text shows. JSON has no NaN and no infinity: null.
Json first_values(const TensorView& tensor) {
  Json values = Json::array();
  const auto add = [&]<class T>(T, auto convert) {
    const T* data = tensor.as<T>();
    for (int64_t i = 0; i < std::min(kShownValues, tensor.count()); ++i)
      values.push_back(convert(data[i]));
  };
  const auto same = [](const auto& x) { return Json(x); };
  const auto real = [](auto x) { return std::isfinite(x) ? Json(x) : Json(nullptr); };
  const auto half = [&](auto x) { return real(to_float(x)); };
  switch (tensor.dtype) {
    case DType::kF32:
      add(float(), real);
      break;
    case DType::kF64:
      add(double(), real);
      break;
    case DType::kF16:
      add(Half(), half);
      break;
    case DType::kBF16:
      add(BFloat16(), half);
      break;
    case DType::kI8:
      add(int8_t(), same);
      break;
    case DType::kI16:
      add(int16_t(), same);
      break;
    case DType::kI32:
      add(int32_t(), same);
      break;
    case DType::kI64:
      add(int64_t(), same);
      break;
    case DType::kU8:
      add(uint8_t(), same);
      break;
    case DType::kU16:
      add(uint16_t(), same);
      break;
    case DType::kU32:
      add(uint32_t(), same);
      break;
    case DType::kU64:
      add(uint64_t(), same);
      break;
    case DType::kBool:
      add(uint8_t(), [](uint8_t x) { return Json(x != 0); });
      break;
    case DType::kString:
      add(std::string(), same);
      break;
    default:
      return nullptr;
  }
  return values;
}

Result<int> run_run(App& app, const Options& options) {
  HASTEN_TRY(const Target target, app.target(options.target));
  HASTEN_TRY(OpenedModel model, app.open(target));
  HASTEN_TRY(const Samples samples, app.inputs(target, model.engine->inputs()));
  HASTEN_TRY(const std::vector<InputSet> sets, samples.sets(model.engine->inputs()));
  const auto sample = static_cast<size_t>(options.sample);
  if (sample >= sets.size()) {
    return fail(Code::kInvalidArgument, "--sample {}: there {} {}, the first is 0", sample,
                sets.size() == 1 ? "is" : "are", counted(sets.size(), "sample"));
  }
  if (sets.size() > 1) app.note(fmt::format("running sample {} of {}", sample, sets.size()));
  const int64_t begin = now_ns();
  HASTEN_CHECK(model.runner->bind(sets[sample]));
  HASTEN_CHECK(model.runner->run());
  const double first_ms = static_cast<double>(now_ns() - begin) * 1e-6;

  std::vector<Output> outputs;
  for (size_t i = 0; i < model.engine->outputs().size(); ++i) {
    add_output(model.engine->outputs()[i].name, model.runner->outputs()[i], outputs);
  }
  std::vector<std::string> files;
  if (!options.output.empty()) {
    app.control();  // Ctrl-C must not leave some of the files
    HASTEN_TRY(files, save_outputs(options.output, outputs));
  }
  Json json = {{"target", target.text},
               {"engine", model.engine->version()},
               {"load_ms", model.load_ms},
               {"first_ms", first_ms},  // planning and the packing of weights included
               {"outputs", Json::array()}};
  Table table("lll");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorView& out = outputs[i].tensor;
    Json entry = {{"name", outputs[i].name}, {"shape", out.dims}, {"dtype", dtype_name(out.dtype)}};
    if (!files.empty()) entry["file"] = files[i];
    if (files.empty()) entry["values"] = first_values(out);
    json["outputs"].push_back(std::move(entry));
    table.row({outputs[i].name, dtype_name(out.dtype) + dims_text(out.dims),
               files.empty() ? tensor_text(out, kShownValues) : "-> " + files[i]});
  }
  json["assumed"] = samples.assumed;
  HASTEN_CHECK(app.print(json, table.text(app.style())));
  return app.exit_unless_stopped(0);
}

}  // namespace

void add_run(CLI::App& cli, App& app, Run& run) {
  auto options = std::make_shared<Options>();
  cli.add_option("target", options->target, "MODEL[@key=value,...]")
      ->required()
      ->type_name("TARGET");
  cli.add_option("--output", options->output, "Folder for <output name>.npy files")
      ->type_name("DIR");
  cli.add_option("--sample", options->sample, "Which sample of --data")
      ->check(not_negative())
      ->type_name("N")
      ->capture_default_str();
  app.add_inputs(cli);
  app.add_common(cli);
  cli.callback([&app, &run, options] { run = [&app, options] { return run_run(app, *options); }; });
}

}  // namespace hasten
