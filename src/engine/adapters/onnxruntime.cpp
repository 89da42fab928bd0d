// ONNX Runtime over its C API.
#include "engine/adapters/adapters.h"
#include "engine/adapters/peer.h"

#ifdef HASTEN_WITH_ONNXRUNTIME

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/clock.h"
#include "base/mapped_file.h"

namespace hasten {
namespace {

// Session configuration entries that may be set by name; the runtime itself accepts any name in
// silence, which would hide a typing error.
constexpr std::array kConfigEntries = {
    "session.disable_prepacking",
    "session.set_denormal_as_zero",
    "session.disable_quant_qdq",
    "session.disable_qdq_constant_folding",
    "session.disable_double_qdq_remover",
    "session.enable_quant_qdq_cleanup",
    "session.disable_aot_function_inlining",
    "session.graph_optimizations_loop_level",
    "session.use_device_allocator_for_initializers",
    "session.inter_op.allow_spinning",
    "session.intra_op.allow_spinning",
    "session.intra_op.spin_duration_us",
    "session.intra_op_thread_affinities",
    "session.x64quantprecision",
    "session.dynamic_block_base",
    "session.force_spinning_stop",
    "session.strict_shape_type_inference",
    "optimization.enable_gelu_approximation",
    "optimization.enable_cast_chain_elimination",
    "optimization.disable_specified_optimizers",
};

struct Runtime {
  const OrtApi* api = nullptr;
  std::string version;
};

Result<Runtime> load_runtime() {
  const std::string path = environment_or("HASTEN_ONNXRUNTIME_LIB", HASTEN_ONNXRUNTIME_LIB);
  HASTEN_TRY(void* handle, open_library(path, "ONNX Runtime"));
  using GetBase = const OrtApiBase*(ORT_API_CALL*)();
  auto get_base = reinterpret_cast<GetBase>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) {
    return fail(Code::kUnsupported, "'{}' is not ONNX Runtime: it has no OrtGetApiBase", path);
  }
  const OrtApiBase* base = get_base();
  const char* version = base->GetVersionString();
  // An older library knows only older API versions, and says so on stderr when asked for a newer
  // one.
  int major = 0, minor = 0;
  if (std::sscanf(version, "%d.%d", &major, &minor) == 2 && major == 1 && minor < ORT_API_VERSION) {
    return fail(Code::kUnsupported,
                "'{}' is ONNX Runtime {}, older than the headers hasten was built with (1.{})",
                path, version, ORT_API_VERSION);
  }
  Runtime runtime{base->GetApi(ORT_API_VERSION), version};
  if (runtime.api == nullptr) {
    return fail(Code::kUnsupported, "ONNX Runtime {} has no API version {}", version,
                ORT_API_VERSION);
  }
  return runtime;
}

Code code_of(OrtErrorCode code, std::string_view message, Code otherwise) {
  if (message.find("bad_alloc") != message.npos ||
      message.find("Failed to allocate memory") != message.npos) {
    return Code::kOutOfMemory;
  }
  switch (code) {
    case ORT_INVALID_ARGUMENT:
      return Code::kInvalidArgument;
    case ORT_NO_SUCHFILE:
      return Code::kIo;
    case ORT_NO_MODEL:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
      return Code::kInvalidModel;
    case ORT_NOT_IMPLEMENTED:
      return Code::kUnsupported;
    default:
      return otherwise;
  }
}

/// `otherwise` is for statuses that say no more than "failed".
Status to_status(const OrtApi* api, OrtStatus* status, Code otherwise) {
  if (status == nullptr) return {};
  const std::string message = one_line(api->GetErrorMessage(status));
  const Code code = code_of(api->GetErrorCode(status), message, otherwise);
  api->ReleaseStatus(status);
  return fail(code, "ONNX Runtime: {}", message);
}

/// Owns an object of the C API.
template <class T>
class Handle {
 public:
  using Release = void(ORT_API_CALL*)(T*);
  explicit Handle(Release release) : release_(release) {}
  Handle(Handle&& other) noexcept
      : release_(other.release_), object_(std::exchange(other.object_, nullptr)) {}
  ~Handle() { reset(); }
  T* get() const { return object_; }
  T** out() {
    reset();
    return &object_;
  }
  void reset() {
    if (object_ != nullptr) release_(std::exchange(object_, nullptr));
  }

 private:
  Release release_;
  T* object_ = nullptr;
};

void ORT_API_CALL log_message(void* sink, OrtLoggingLevel level, const char*, const char*,
                              const char*, const char* message) {
  // What it calls an error also comes back as a status.
  const LogLevel to = level == ORT_LOGGING_LEVEL_WARNING ? LogLevel::kWarning : LogLevel::kDebug;
  static_cast<LogSink*>(sink)->write(to, fmt::format("ONNX Runtime: {}", one_line(message)));
}

class OrtEngine final : public Engine {
 public:
  OrtEngine(Runtime runtime, int threads)
      : runtime_(std::move(runtime)),
        api_(runtime_.api),
        env_(api_->ReleaseEnv),
        session_(api_->ReleaseSession),
        threads_(threads) {}

  Status open(Context& context, const std::string& path, const EngineOptions& options) {
    HASTEN_CHECK(check(api_->CreateEnvWithCustomLogger(
        log_message, &context.log(), ORT_LOGGING_LEVEL_WARNING, "hasten", env_.out())));
    Handle<OrtSessionOptions> session_options(api_->ReleaseSessionOptions);
    HASTEN_CHECK(check(api_->CreateSessionOptions(session_options.out())));
    if (options.threads > 0) {
      HASTEN_CHECK(check(api_->SetIntraOpNumThreads(session_options.get(), options.threads)));
    }
    for (const auto& [key, value] : options.extra) {
      HASTEN_CHECK(set_option(session_options.get(), key, value));
    }
    HASTEN_CHECK(to_status(
        api_, api_->CreateSession(env_.get(), path.c_str(), session_options.get(), session_.out()),
        Code::kInvalidModel));
    HASTEN_CHECK(read_ports(true, inputs_));
    HASTEN_CHECK(read_ports(false, outputs_));
    return apply_shapes(options.shapes);
  }

  const std::vector<Port>& inputs() const override { return inputs_; }
  const std::vector<Port>& outputs() const override { return outputs_; }
  Result<std::unique_ptr<Runner>> make_runner() override;
  std::string version() const override { return "onnxruntime " + runtime_.version; }
  int threads() const override { return threads_; }

  const OrtApi* api() const { return api_; }
  OrtSession* session() const { return session_.get(); }

 private:
  Status check(OrtStatus* status) const { return to_status(api_, status, Code::kInternal); }

  Status set_option(OrtSessionOptions* options, const std::string& key, const std::string& value) {
    auto bad = [&](const char* wanted) {
      return fail(Code::kInvalidArgument, "onnxruntime option {}={}: want {}", key, value, wanted);
    };
    if (key == "graph_optimization_level") {
      static const std::map<std::string, GraphOptimizationLevel> kLevels = {
          {"disable", ORT_DISABLE_ALL},
          {"basic", ORT_ENABLE_BASIC},
          {"extended", ORT_ENABLE_EXTENDED},
          {"layout", ORT_ENABLE_LAYOUT},
          {"all", ORT_ENABLE_ALL}};
      auto it = kLevels.find(value);
      if (it == kLevels.end()) return bad("disable, basic, extended, layout or all");
      return check(api_->SetSessionGraphOptimizationLevel(options, it->second));
    }
    if (key == "execution_mode") {
      if (value != "sequential" && value != "parallel") return bad("sequential or parallel");
      return check(api_->SetSessionExecutionMode(
          options, value == "parallel" ? ORT_PARALLEL : ORT_SEQUENTIAL));
    }
    if (key == "inter_op_threads") {
      int n = 0;
      auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
      if (error != std::errc() || end != value.data() + value.size() || n < 1 || n > 1024) {
        return bad("a number from 1 to 1024");
      }
      return check(api_->SetInterOpNumThreads(options, n));
    }
    if (std::find(kConfigEntries.begin(), kConfigEntries.end(), key) == kConfigEntries.end()) {
      return fail(Code::kInvalidArgument,
                  "unknown option '{}' of engine onnxruntime; it has graph_optimization_level, "
                  "execution_mode, inter_op_threads, {}",
                  key, fmt::join(kConfigEntries, ", "));
    }
    return check(api_->AddSessionConfigEntry(options, key.c_str(), value.c_str()));
  }

  Status read_ports(bool input, std::vector<Port>& ports) {
    size_t count = 0;
    HASTEN_CHECK(check(input ? api_->SessionGetInputCount(session(), &count)
                             : api_->SessionGetOutputCount(session(), &count)));
    OrtAllocator* allocator = nullptr;
    HASTEN_CHECK(check(api_->GetAllocatorWithDefaultOptions(&allocator)));
    for (size_t i = 0; i < count; ++i) {
      Port port;
      char* name = nullptr;
      HASTEN_CHECK(check(input ? api_->SessionGetInputName(session(), i, allocator, &name)
                               : api_->SessionGetOutputName(session(), i, allocator, &name)));
      port.name = name;
      HASTEN_CHECK(check(api_->AllocatorFree(allocator, name)));
      Handle<OrtTypeInfo> info(api_->ReleaseTypeInfo);
      HASTEN_CHECK(check(input ? api_->SessionGetInputTypeInfo(session(), i, info.out())
                               : api_->SessionGetOutputTypeInfo(session(), i, info.out())));
      const OrtTensorTypeAndShapeInfo* tensor = nullptr;
      HASTEN_CHECK(check(api_->CastTypeInfoToTensorInfo(info.get(), &tensor)));
      if (tensor == nullptr) {
        return fail(Code::kUnsupported,
                    "{} '{}' is not a tensor: hasten runs models of tensors only",
                    input ? "input" : "output", port.name);
      }
      HASTEN_CHECK(read_type(tensor, port));
      ports.push_back(std::move(port));
    }
    return {};
  }

  Status read_type(const OrtTensorTypeAndShapeInfo* tensor, Port& port) {
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    HASTEN_CHECK(check(api_->GetTensorElementType(tensor, &type)));
    // The numbers are those of TensorProto.DataType.
    if (!dtype_supported(static_cast<int>(type))) {
      return fail(Code::kUnsupported, "'{}' has elements of type {}, which hasten doesn't handle",
                  port.name, onnx_dtype_name(static_cast<int>(type)));
    }
    port.dtype = static_cast<DType>(type);
    size_t rank = 0;
    HASTEN_CHECK(check(api_->GetDimensionsCount(tensor, &rank)));
    std::vector<int64_t> dims(rank);
    std::vector<const char*> names(rank, nullptr);
    HASTEN_CHECK(check(api_->GetDimensions(tensor, dims.data(), rank)));
    HASTEN_CHECK(check(api_->GetSymbolicDimensions(tensor, names.data(), rank)));
    for (size_t d = 0; d < rank; ++d) {
      const bool named = names[d] != nullptr && names[d][0] != '\0';
      port.shape.push_back(dims[d] >= 0 ? Dim(dims[d])
                           : named      ? Dim::symbol(names[d])
                                        : Dim::fresh());
    }
    // A rank of 0 also stands for "unknown": only inputs need the difference, and scalars are
    // common.
    port.has_shape = true;
    return {};
  }

  /// Narrows declared dims to those asked for. What the file fixes, this runtime can't change.
  Status apply_shapes(const std::map<std::string, Shape>& shapes) {
    for (const auto& [name, shape] : shapes) {
      auto port = std::find_if(inputs_.begin(), inputs_.end(),
                               [&name = name](const Port& p) { return p.name == name; });
      if (port == inputs_.end()) {
        return fail(Code::kInvalidArgument, "shape={}: the model has no such input", name);
      }
      bool fits = shape.size() == port->shape.size();
      for (size_t d = 0; fits && d < shape.size(); ++d) {
        fits = !port->shape[d].known() || port->shape[d] == shape[d];
      }
      if (!fits) {
        return fail(Code::kUnsupported,
                    "input '{}' is declared {}; onnxruntime can't run it as {} (native can)", name,
                    shape_text(port->shape), shape_text(shape));
      }
      port->shape = shape;
    }
    return {};
  }

  Runtime runtime_;
  const OrtApi* api_;
  Handle<OrtEnv> env_;
  Handle<OrtSession> session_;
  int threads_;
  std::vector<Port> inputs_, outputs_;
};

class OrtRunner final : public Runner {
 public:
  explicit OrtRunner(OrtEngine& engine)
      : engine_(engine), api_(engine.api()), memory_(api_->ReleaseMemoryInfo) {
    for (const Port& p : engine.inputs()) input_names_.push_back(p.name.c_str());
    for (const Port& p : engine.outputs()) output_names_.push_back(p.name.c_str());
  }
  ~OrtRunner() override {
    release(inputs_);
    release(outputs_);
  }

  Status open() {
    return check(api_->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, memory_.out()));
  }

  Status bind(std::span<const TensorView> inputs) override {
    HASTEN_CHECK(check_inputs(engine_.inputs(), inputs));
    release(inputs_);
    for (const TensorView& in : inputs) {
      OrtValue* value = nullptr;
      HASTEN_CHECK(in.dtype == DType::kString ? make_strings(in, &value) : wrap(in, &value));
      inputs_.push_back(value);
    }
    return {};
  }

  Status run(Observer* observer) override {
    if (inputs_.size() != input_names_.size()) {
      return fail(Code::kInvalidArgument, "run before bind: the inputs are not set");
    }
    release(outputs_);
    outputs_.assign(output_names_.size(), nullptr);
    if (observer != nullptr) observer->run_begin(now_ns());
    OrtStatus* status =
        api_->Run(engine_.session(), nullptr, input_names_.data(), inputs_.data(), inputs_.size(),
                  output_names_.data(), output_names_.size(), outputs_.data());
    if (observer != nullptr) observer->run_end(now_ns());
    HASTEN_CHECK(to_status(api_, status, Code::kInternal));
    return read_outputs();
  }

  std::span<const TensorView> outputs() const override { return views_; }

 private:
  Status check(OrtStatus* status) const { return to_status(api_, status, Code::kInternal); }

  void release(std::vector<OrtValue*>& values) {
    for (OrtValue* v : values) {
      if (v != nullptr) api_->ReleaseValue(v);
    }
    values.clear();
  }

  Status wrap(const TensorView& in, OrtValue** value) {
    static char nothing;  // the C API refuses a null pointer even for no elements
    void* data = in.data != nullptr ? const_cast<void*>(in.data) : &nothing;
    return check(api_->CreateTensorWithDataAsOrtValue(
        memory_.get(), data, static_cast<size_t>(in.count()) * dtype_size(in.dtype), in.dims.data(),
        in.dims.size(), static_cast<ONNXTensorElementDataType>(in.dtype), value));
  }

  Status make_strings(const TensorView& in, OrtValue** value) {
    OrtAllocator* allocator = nullptr;
    HASTEN_CHECK(check(api_->GetAllocatorWithDefaultOptions(&allocator)));
    HASTEN_CHECK(check(api_->CreateTensorAsOrtValue(allocator, in.dims.data(), in.dims.size(),
                                                    ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, value)));
    std::vector<const char*> strings;
    for (int64_t i = 0; i < in.count(); ++i) strings.push_back(in.as<std::string>()[i].c_str());
    return check(api_->FillStringTensor(*value, strings.data(), strings.size()));
  }

  Status read_outputs() {
    views_.resize(outputs_.size());
    strings_.resize(outputs_.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      Handle<OrtTensorTypeAndShapeInfo> info(api_->ReleaseTensorTypeAndShapeInfo);
      HASTEN_CHECK(check(api_->GetTensorTypeAndShape(outputs_[i], info.out())));
      size_t rank = 0;
      HASTEN_CHECK(check(api_->GetDimensionsCount(info.get(), &rank)));
      TensorView& view = views_[i];
      view.dtype = engine_.outputs()[i].dtype;
      view.dims.resize(rank);
      HASTEN_CHECK(check(api_->GetDimensions(info.get(), view.dims.data(), rank)));
      if (view.dtype == DType::kString) {
        HASTEN_CHECK(read_strings(outputs_[i], view, strings_[i]));
        continue;
      }
      void* data = nullptr;
      HASTEN_CHECK(check(api_->GetTensorMutableData(outputs_[i], &data)));
      view.data = data;
    }
    return {};
  }

  Status read_strings(const OrtValue* value, TensorView& view, std::vector<std::string>& strings) {
    size_t bytes = 0;
    HASTEN_CHECK(check(api_->GetStringTensorDataLength(value, &bytes)));
    const auto count = static_cast<size_t>(view.count());
    std::string text(bytes, '\0');
    std::vector<size_t> offsets(count);
    HASTEN_CHECK(
        check(api_->GetStringTensorContent(value, text.data(), bytes, offsets.data(), count)));
    strings.clear();
    for (size_t i = 0; i < count; ++i) {
      const size_t end = i + 1 < count ? offsets[i + 1] : bytes;
      strings.push_back(text.substr(offsets[i], end - offsets[i]));
    }
    view.data = strings.data();
    return {};
  }

  OrtEngine& engine_;
  const OrtApi* api_;
  Handle<OrtMemoryInfo> memory_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<OrtValue*> inputs_, outputs_;
  std::vector<TensorView> views_;
  std::vector<std::vector<std::string>> strings_;
};

Result<std::unique_ptr<Runner>> OrtEngine::make_runner() {
  auto runner = std::make_unique<OrtRunner>(*this);
  HASTEN_CHECK(runner->open());
  return runner;
}

}  // namespace

Result<std::unique_ptr<Engine>> open_onnxruntime(Context& context, const std::string& path,
                                                 const EngineOptions& options) {
  if (options.precision == Precision::kBf16 || options.precision == Precision::kInt8) {
    return fail(Code::kUnsupported,
                "engine onnxruntime has no option for precision={}: it computes as the model says",
                precision_name(options.precision));
  }
  // Its own message for a missing or unreadable file names no reason.
  if (auto file = MappedFile::open(path); !file) return fail(std::move(file.error()));
  HASTEN_TRY(Runtime runtime, load_runtime());
  // Its default is one thread for each physical core that the affinity mask shows.
  const int own = std::max(1, std::min(context.cpu().physical_cores, context.cpu().affinity_cpus));
  auto engine =
      std::make_unique<OrtEngine>(std::move(runtime), options.threads > 0 ? options.threads : own);
  HASTEN_CHECK(engine->open(context, path, options));
  return engine;
}

}  // namespace hasten

#else

namespace hasten {

Result<std::unique_ptr<Engine>> open_onnxruntime(Context&, const std::string&,
                                                 const EngineOptions&) {
  return peer_missing("onnxruntime");
}

}  // namespace hasten

#endif
