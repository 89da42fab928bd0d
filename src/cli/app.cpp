#include "cli/app.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "base/clock.h"
#include "base/mapped_file.h"
#include "cli/bundle.h"
#include "engine/onnx/load.h"
#include "engine/onnx/proto.h"
#include "engine/plan/plan_file.h"

namespace hasten {

namespace {

// Signal handlers can reach nothing else.
std::atomic<bool> g_stop{false};
std::atomic<bool> g_graceful{false};  // somebody looks at g_stop
std::atomic<int64_t> g_stop_ns{0};
// `timeout` sends its signal to the process and to its group: two within this time are one.
constexpr int64_t kSameSignalNs = 500'000'000;

void on_interrupt(int) {
  // Nobody would look, or they were asked before: end at once.
  if (!g_graceful.load()) _exit(130);
  const int64_t now = now_ns();
  if (!g_stop.exchange(true)) {
    g_stop_ns = now;
  } else if (now - g_stop_ns.load() > kSameSignalNs) {
    _exit(130);
  }
}

/// Bytes of data and stack that this process has mapped, as RLIMIT_DATA counts them.
int64_t data_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0, shared = 0, text = 0, lib = 0, data = 0;
  statm >> size >> resident >> shared >> text >> lib >> data;
  return data * sysconf(_SC_PAGESIZE);
}

/// A plan in a bundle must be of the model beside it: another would answer something else.
Status check_plan(const Target& target, const std::string& isa) {
  if (target.bundle.empty() || !target.model.ends_with(".hplan")) return {};
  HASTEN_TRY(const BundleInfo info, read_bundle(target.bundle));
  HASTEN_TRY(const PlanFile plan, load_plan(target.model, isa));
  const auto model = info.files.find("model.onnx");
  if (model != info.files.end() && model->second != plan.model_hash) {
    return fail(Code::kInvalidModel,
                "'{}' is the plan of another model: its hash is {}, that of the bundle's is {}; "
                "make the bundle anew with hasten optimize",
                target.model, plan.model_hash, model->second);
  }
  return {};
}

/// What is no ONNX file at all is told in our words before a peer tells it in its own.
Status check_file(const Target& target) {
  if (target.options.kind == EngineKind::kNative) return {};
  HASTEN_TRY(const MappedFile file, MappedFile::open(target.model));
  const auto proto = onnx::read_model(file.bytes());
  if (!proto && proto.error().code == Code::kInvalidModel)
    return fail(Code::kInvalidModel, "'{}': {}", target.model, proto.error().message);
  return {};
}

}  // namespace

class App::Log final : public LogSink {
 public:
  Log(ProgressLine& progress, bool verbose)
      : progress_(progress),
        logger_("hasten", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    logger_.set_pattern(verbose ? "hasten: %^%l%$: [%H:%M:%S.%e] %v" : "hasten: %^%l%$: %v");
    logger_.set_level(verbose ? spdlog::level::debug : spdlog::level::warn);
  }
  void write(LogLevel level, std::string_view message) override {
    constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                     spdlog::level::warn, spdlog::level::err};
    const auto to = kLevels[static_cast<int>(level)];
    if (!logger_.should_log(to)) return;
    progress_.clear();
    logger_.log(to, message);
  }

 private:
  ProgressLine& progress_;
  spdlog::logger logger_;
};

App::App() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

void App::add_common(CLI::App& verb) {
  verb.add_flag("--json", json_, "Print exactly one JSON object on stdout");
  verb.add_option("--memory-limit", memory_limit_, "Bytes that a model may take (K, M, G allowed)")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->type_name("BYTES");
  verb.add_flag("--verify", verify_,
                "Check every byte of a .hplan file, or of a bundle, against its hash first");
  auto* limits = verb.add_option_group(
      "Loading", "Limits for models that nobody vouches for (engine=native); 0: none");
  const auto bytes = [&](const char* name, int64_t& to, const char* what) {
    limits->add_option(name, to, what)
        ->transform(CLI::AsSizeValue(false).description(""))
        ->type_name("BYTES")
        ->capture_default_str();
  };
  bytes("--max-weight-bytes", limits_.bytes, "Of all weights together");
  bytes("--max-folded-bytes", limits_.folded_bytes, "Of constants computed ahead");
  limits->add_option("--max-nodes", limits_.nodes, "Of the graph, functions inlined")
      ->check(not_negative().description(""))
      ->type_name("N")
      ->capture_default_str();
  limits->add_option("--max-load-seconds", limits_.seconds, "Until the model is ready to run")
      ->check(not_negative().description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  limits->add_flag("--allow-external-links", limits_.allow_external_links,
                   "Weights may lie behind links that leave the model's folder");
  verb.add_flag("-v,--verbose", verbose_, "Say more on stderr");
}

void App::add_inputs(CLI::App& verb) {
  verb.add_option("--input", request_.inputs, "NAME=file.npy, or NAME=random; once for each input")
      ->allow_extra_args(false)
      ->type_name("NAME=SOURCE");
  verb.add_option("--data", request_.data,
                  "A .npz file (axis 0 is the samples), or a folder of them, one sample each")
      ->type_name("PATH");
  verb.add_option("--seed", request_.seed, "Of inputs that are made up")
      ->type_name("N")
      ->capture_default_str();
}

Style App::style() const {
  return {!json_ && isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr};
}

Result<Context*> App::context() {
  if (!context_) {
    log_ = std::make_shared<Log>(progress_, verbose_);
    auto made = Context::make(*log_);
    if (!made) {
      usage_error_ = made.error().code == Code::kInvalidArgument;  // HASTEN_ISA
      return fail(std::move(made.error()));
    }
    context_ = std::move(*made);
  }
  return context_.get();
}

Result<Target> App::target(const std::string& text) {
  auto target = parse_target(text);
  if (!target) {
    usage_error_ = target.error().code == Code::kInvalidArgument;
    return fail(std::move(target.error()));
  }
  target->options.memory_limit = memory_limit_;
  target->options.limits = limits_;
  target->options.verify_plan = verify_;
  return target;
}

Status App::limit_peer_memory(const EngineOptions& options) {
  // The native engine keeps to its budget by itself; a peer is held to it by the kernel.
  if (options.memory_limit <= 0 || options.kind == EngineKind::kNative || memory_limited_)
    return {};
  const auto limit = static_cast<rlim_t>(data_bytes() + options.memory_limit);
  rlimit old{};
  getrlimit(RLIMIT_DATA, &old);
  const rlimit now{std::min(limit, old.rlim_max), old.rlim_max};
  if (setrlimit(RLIMIT_DATA, &now) != 0)
    return fail(Code::kIo, "cannot set --memory-limit: {}", std::strerror(errno));
  memory_limited_ = true;
  return {};
}

/// shape= is for dims that are left open. One that the file gives as a number may be overridden
/// too, but then it isn't the model as it was made.
void App::warn_of_shapes(const Target& target) {
  if (target.options.shapes.empty() || target.model.ends_with(".hplan")) return;
  const auto file = MappedFile::open(target.model);
  if (!file) return;
  const auto proto = onnx::read_model(file->bytes());
  if (!proto) return;
  for (const onnx::ValueInfoProto& input : proto->graph.inputs) {
    const auto given = target.options.shapes.find(std::string(input.name));
    if (given == target.options.shapes.end() || !input.type.has_shape) continue;
    const auto& dims = input.type.dims;
    if (dims.size() != given->second.size()) continue;  // refused when it is loaded
    std::string declared;
    bool differs = false;
    for (size_t i = 0; i < dims.size(); ++i) {
      const Dim dim = given->second[i];
      differs = differs || (dims[i].value && *dims[i].value > 0 &&
                            !(dim.known() && dim.value() == *dims[i].value));
      declared += (i == 0 ? "" : ",") + (dims[i].value           ? fmt::format("{}", *dims[i].value)
                                         : dims[i].param.empty() ? "?"
                                                                 : std::string(dims[i].param));
    }
    const std::string line = fmt::format(
        "input '{}' is declared [{}], shape= makes it {}: dims that the model fixes "
        "are overridden",
        input.name, declared, shape_text(given->second));
    if (differs && noted_.insert(line).second) warn(line);
  }
}

/// A plan file's hashes are checked where it is opened.
Status App::verify_files(const Target& target) {
  if (!verify_) return {};
  if (!target.bundle.empty()) {
    HASTEN_TRY(const BundleInfo info, read_bundle(target.bundle));
    HASTEN_TRY(const std::string changed, changed_file(target.bundle, info));
    if (!changed.empty())
      return fail(Code::kInvalidModel, "bundle '{}': {}; make it anew with hasten optimize",
                  target.bundle, changed);
  } else if (!target.model.ends_with(".hplan")) {
    const std::string line =
        fmt::format("--verify: '{}' holds no hash that it could be checked against", target.model);
    if (noted_.insert(line).second) warn(line);
  }
  return {};
}

Result<OpenedModel> App::open(const Target& target) {
  HASTEN_TRY(Context * context, this->context());
  HASTEN_CHECK(verify_files(target));
  HASTEN_CHECK(check_plan(target, isa_name(context->isa())));
  HASTEN_CHECK(check_file(target));
  warn_of_shapes(target);
  HASTEN_CHECK(limit_peer_memory(target.options));
  auto model = open_model(*context, target.model, target.options);
  if (!model) usage_error_ = model.error().code == Code::kInvalidArgument;
  return model;
}

Result<Graph> App::graph(const Target& target) {
  if (target.model.ends_with(".hplan")) {
    HASTEN_TRY(Context * context, this->context());
    HASTEN_TRY(PlanFile file, load_plan(target.model, isa_name(context->isa()), verify_));
    return std::move(file.graph);
  }
  LoadOptions options;
  options.shapes = target.options.shapes;
  options.limits = limits_;
  options.clock = LoadClock(limits_.seconds);
  options.keep_unsupported = true;
  auto graph = load_onnx(target.model, options);
  if (!graph) usage_error_ = graph.error().code == Code::kInvalidArgument;
  return graph;
}

Result<Samples> App::inputs(const Target& target, const std::vector<Port>& ports) {
  if (Status fits = check_request(request_); !fits) {
    usage_error_ = true;
    return fail(std::move(fits.error()));
  }
  std::optional<Graph> graph;
  if (request_.data.empty()) {
    if (auto loaded = this->graph(target)) graph = std::move(*loaded);
  }
  // Names and symbols as the file has them say more than those of some engines.
  std::vector<Port> declared = ports;
  if (graph) {
    for (Port& port : declared) {
      for (ValueId id : graph->main.inputs) {
        const Value& value = graph->value(id);
        if (value.name == port.name && value.has_shape) port.shape = value.shape;
      }
    }
  }
  std::optional<OpenedModel> model;
  auto trial = [&](const Samples& samples) -> Status {
    if (!model) {
      HASTEN_TRY(model, open(target));
    }
    HASTEN_TRY(const auto sets, samples.sets(model->engine->inputs()));
    HASTEN_CHECK(model->runner->bind(sets[0]));
    return model->runner->run();
  };
  HASTEN_TRY(Samples samples, gather_inputs(declared, request_, graph ? &*graph : nullptr, trial));
  for (const std::string& line : samples.assumed) {
    if (noted_.insert(line).second) note(line);  // once, though two targets assume it
  }
  return samples;
}

MeasureControl App::control() {
  g_graceful = true;
  MeasureControl control;
  control.stop = &g_stop;
  control.progress = [this](const Progress& progress) { progress_.update(progress); };
  return control;
}

bool App::stopped() const { return g_stop; }

int App::exit_unless_stopped(int code) const { return stopped() ? 130 : code; }

Status App::print(const Json& json, const std::string& text) {
  progress_.clear();
  // Names out of a model may hold any bytes: what is no UTF-8 is replaced.
  const std::string out =
      json_ ? json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : text;
  errno = 0;
  if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout) != 0) {
    return fail(Code::kIo, "cannot write to stdout: {}", std::strerror(errno));
  }
  return {};
}

void App::warn(const std::string& message) {
  progress_.clear();
  fmt::print(stderr, "hasten: warning: {}\n", message);
}

void App::note(const std::string& message) {
  progress_.clear();
  fmt::print(stderr, "hasten: {}\n", message);
}

int App::fail_with(const Error& failure) {
  Error error = failure;
  // A peer that the kernel refuses memory says so in its own words, and of its own threads.
  if (memory_limited_ && (error.message.find("allocat") != error.message.npos ||
                          error.message.find("alloc failed") != error.message.npos)) {
    error = {Code::kOutOfMemory, fmt::format("--memory-limit {} is too little for this engine: {}",
                                             memory_limit_, failure.message)};
  }
  note(error.message);
  if (json_) {
    const Json json = {{"error", {{"code", code_name(error.code)}, {"message", error.message}}}};
    // Nothing to do about a stdout that can't be written to: the exit code tells.
    [[maybe_unused]] const Status printed = print(json, "");
  }
  return usage_error_ ? 2 : exit_code(error.code);
}

int App::note_failure(const Error& error) {
  note(error.message);
  return exit_code(error.code);
}

int App::usage(const std::string& message) {
  usage_error_ = true;
  return fail_with({Code::kInvalidArgument, message});
}

}  // namespace hasten
