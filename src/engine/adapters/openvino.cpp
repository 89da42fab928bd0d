// OpenVINO's CPU plugin over its C API.
#include "engine/adapters/adapters.h"
#include "engine/adapters/peer.h"

#ifdef HASTEN_WITH_OPENVINO

#include <dlfcn.h>
#include <openvino/c/openvino.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/mapped_file.h"
#include "engine/onnx/proto.h"

namespace hasten {
namespace {

// Every function of the C API that is used, looked up by name.
#define HASTEN_OV_FUNCTIONS(X)                 \
  X(ov_get_openvino_version)                   \
  X(ov_version_free)                           \
  X(ov_get_error_info)                         \
  X(ov_get_last_err_msg)                       \
  X(ov_free)                                   \
  X(ov_core_create)                            \
  X(ov_core_free)                              \
  X(ov_core_read_model)                        \
  X(ov_core_set_property)                      \
  X(ov_core_get_property)                      \
  X(ov_core_compile_model)                     \
  X(ov_model_free)                             \
  X(ov_model_reshape)                          \
  X(ov_compiled_model_free)                    \
  X(ov_compiled_model_inputs_size)             \
  X(ov_compiled_model_outputs_size)            \
  X(ov_compiled_model_input_by_index)          \
  X(ov_compiled_model_output_by_index)         \
  X(ov_compiled_model_input_by_name)           \
  X(ov_compiled_model_output_by_name)          \
  X(ov_compiled_model_get_property)            \
  X(ov_compiled_model_create_infer_request)    \
  X(ov_output_const_port_free)                 \
  X(ov_port_get_any_name)                      \
  X(ov_port_get_element_type)                  \
  X(ov_port_get_partial_shape)                 \
  X(ov_partial_shape_create_dynamic)           \
  X(ov_partial_shape_free)                     \
  X(ov_tensor_create_from_host_ptr)            \
  X(ov_tensor_get_shape)                       \
  X(ov_tensor_data)                            \
  X(ov_tensor_free)                            \
  X(ov_shape_create)                           \
  X(ov_shape_free)                             \
  X(ov_infer_request_set_tensor_by_const_port) \
  X(ov_infer_request_get_tensor_by_const_port) \
  X(ov_infer_request_infer)                    \
  X(ov_infer_request_free)

struct Api {
#define HASTEN_OV_MEMBER(name) decltype(&::name) name = nullptr;
  HASTEN_OV_FUNCTIONS(HASTEN_OV_MEMBER)
#undef HASTEN_OV_MEMBER
};

/// libs/libopenvino_c.so.<version> of the wheel; its name changes with each release.
Result<std::string> find_library() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(environment_or("HASTEN_OPENVINO", HASTEN_OPENVINO_DIR)) / "libs";
  std::error_code error;
  std::string found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("libopenvino_c.so")) found = std::max(found, it->path().string());
  }
  if (found.empty()) {
    return fail(Code::kUnsupported,
                "cannot load OpenVINO: no libopenvino_c.so in '{}'; tools/setup brings it",
                folder.string());
  }
  return found;
}

Result<Api> load_api() {
  HASTEN_TRY(std::string path, find_library());
  HASTEN_TRY(void* handle, open_library(path, "OpenVINO"));
  Api api;
#define HASTEN_OV_LOAD(name)                                                                       \
  api.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name));                            \
  if (api.name == nullptr) {                                                                       \
    return fail(Code::kUnsupported, "'{}' has no {}: too old or too new for hasten", path, #name); \
  }
  HASTEN_OV_FUNCTIONS(HASTEN_OV_LOAD)
#undef HASTEN_OV_LOAD
  return api;
}

Status to_status(const Api& api, ov_status_e status, Code otherwise) {
  if (status == ov_status_e::OK) return {};
  const char* last = api.ov_get_last_err_msg();
  std::string message =
      one_line(last != nullptr && *last != '\0' ? last : api.ov_get_error_info(status));
  Code code = otherwise;
  if (message.find("bad_alloc") != message.npos) code = Code::kOutOfMemory;
  if (status == ov_status_e::NOT_IMPLEMENTED) code = Code::kUnsupported;
  return fail(code, "OpenVINO: {}", message);
}

DType to_dtype(ov_element_type_e type) {
  switch (type) {
    case ov_element_type_e::BOOLEAN:
      return DType::kBool;
    case ov_element_type_e::BF16:
      return DType::kBF16;
    case ov_element_type_e::F16:
      return DType::kF16;
    case ov_element_type_e::F32:
      return DType::kF32;
    case ov_element_type_e::F64:
      return DType::kF64;
    case ov_element_type_e::I8:
      return DType::kI8;
    case ov_element_type_e::I16:
      return DType::kI16;
    case ov_element_type_e::I32:
      return DType::kI32;
    case ov_element_type_e::I64:
      return DType::kI64;
    case ov_element_type_e::U8:
      return DType::kU8;
    case ov_element_type_e::U16:
      return DType::kU16;
    case ov_element_type_e::U32:
      return DType::kU32;
    case ov_element_type_e::U64:
      return DType::kU64;
    default:
      return DType::kNone;
  }
}

ov_element_type_e from_dtype(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return ov_element_type_e::BOOLEAN;
    case DType::kBF16:
      return ov_element_type_e::BF16;
    case DType::kF16:
      return ov_element_type_e::F16;
    case DType::kF64:
      return ov_element_type_e::F64;
    case DType::kI8:
      return ov_element_type_e::I8;
    case DType::kI16:
      return ov_element_type_e::I16;
    case DType::kI32:
      return ov_element_type_e::I32;
    case DType::kI64:
      return ov_element_type_e::I64;
    case DType::kU8:
      return ov_element_type_e::U8;
    case DType::kU16:
      return ov_element_type_e::U16;
    case DType::kU32:
      return ov_element_type_e::U32;
    case DType::kU64:
      return ov_element_type_e::U64;
    default:
      return ov_element_type_e::F32;
  }
}

/// Inputs (without those that are initializers) and outputs as the file orders and names them.
struct Names {
  std::vector<std::string> inputs, outputs;
};

Result<Names> names_of(const std::string& path) {
  HASTEN_TRY(const MappedFile file, MappedFile::open(path));
  HASTEN_TRY(const onnx::ModelProto model, onnx::read_model(file.bytes()));
  std::set<std::string_view> initializers(model.graph.sparse_initializers.begin(),
                                          model.graph.sparse_initializers.end());
  for (const onnx::TensorProto& tensor : model.graph.initializers) initializers.insert(tensor.name);
  Names names;
  for (const onnx::ValueInfoProto& v : model.graph.inputs) {
    if (!initializers.contains(v.name)) names.inputs.emplace_back(v.name);
  }
  for (const onnx::ValueInfoProto& v : model.graph.outputs) names.outputs.emplace_back(v.name);
  return names;
}

struct Ports {
  std::vector<Port> ports;
  std::vector<ov_output_const_port_t*> raw;
};

class OvEngine final : public Engine {
 public:
  explicit OvEngine(Api api) : api_(api) {}
  ~OvEngine() override {
    for (const Ports* ports : {&inputs_, &outputs_}) {
      for (ov_output_const_port_t* raw : ports->raw) api_.ov_output_const_port_free(raw);
    }
    if (compiled_ != nullptr) api_.ov_compiled_model_free(compiled_);
    if (core_ != nullptr) api_.ov_core_free(core_);
  }

  Status open(const std::string& path, const EngineOptions& options) {
    HASTEN_CHECK(check(api_.ov_core_create(&core_)));
    HASTEN_CHECK(set("PERFORMANCE_HINT", "LATENCY"));
    HASTEN_CHECK(
        set("INFERENCE_PRECISION_HINT", options.precision == Precision::kBf16 ? "bf16" : "f32"));
    if (options.threads > 0)
      HASTEN_CHECK(set("INFERENCE_NUM_THREADS", std::to_string(options.threads)));
    HASTEN_CHECK(set_extra(options.extra));
    HASTEN_CHECK(compile(path, options.shapes));
    HASTEN_TRY(const Names names, names_of(path));
    HASTEN_CHECK(read_ports(true, names.inputs, inputs_));
    HASTEN_CHECK(read_ports(false, names.outputs, outputs_));
    ov_version_t version{};
    HASTEN_CHECK(check(api_.ov_get_openvino_version(&version)));
    // "2026.4.0-21234-abcdef": the release is enough.
    const std::string build = version.buildNumber != nullptr ? version.buildNumber : "";
    version_ = "openvino " + build.substr(0, build.find('-'));
    api_.ov_version_free(&version);
    char* threads = nullptr;
    HASTEN_CHECK(
        check(api_.ov_compiled_model_get_property(compiled_, "INFERENCE_NUM_THREADS", &threads)));
    threads_ = std::max(1, std::atoi(threads));
    api_.ov_free(threads);
    return {};
  }

  const std::vector<Port>& inputs() const override { return inputs_.ports; }
  const std::vector<Port>& outputs() const override { return outputs_.ports; }
  Result<std::unique_ptr<Runner>> make_runner() override;
  std::string version() const override { return version_; }
  int threads() const override { return threads_; }

  const Api& api() const { return api_; }
  ov_compiled_model_t* compiled() const { return compiled_; }
  const ov_output_const_port_t* raw_input(size_t i) const { return inputs_.raw[i]; }
  const ov_output_const_port_t* raw_output(size_t i) const { return outputs_.raw[i]; }

 private:
  Status check(ov_status_e status) const { return to_status(api_, status, Code::kInternal); }

  Status set(const std::string& key, const std::string& value) {
    auto status =
        to_status(api_, api_.ov_core_set_property(core_, "CPU", key.c_str(), value.c_str()),
                  Code::kInvalidArgument);
    if (!status)
      return fail(status.error().code, "openvino option {}={}: {}", key, value,
                  status.error().message);
    return {};
  }

  Status set_extra(const std::map<std::string, std::string>& extra) {
    if (extra.empty()) return {};
    char* text = nullptr;
    HASTEN_CHECK(check(api_.ov_core_get_property(core_, "CPU", "SUPPORTED_PROPERTIES", &text)));
    const std::string supported = text;
    api_.ov_free(text);
    std::vector<std::string> known;
    for (size_t at = 0; at < supported.size();) {
      const size_t end = std::min(supported.find_first_of(" ,", at), supported.size());
      if (end > at) known.push_back(supported.substr(at, end - at));
      at = end + 1;
    }
    for (const auto& [key, value] : extra) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        return fail(Code::kInvalidArgument, "unknown option '{}' of engine openvino; it has {}",
                    key, join_names(known));
      }
      HASTEN_CHECK(set(key, value));
    }
    return {};
  }

  Status compile(const std::string& path, const std::map<std::string, Shape>& shapes) {
    ov_model_t* model = nullptr;
    HASTEN_CHECK(to_status(api_, api_.ov_core_read_model(core_, path.c_str(), nullptr, &model),
                           Code::kInvalidModel));
    std::unique_ptr<ov_model_t, decltype(api_.ov_model_free)> owner(model, api_.ov_model_free);
    HASTEN_CHECK(reshape(model, shapes));
    return to_status(api_, api_.ov_core_compile_model(core_, model, "CPU", 0, &compiled_),
                     Code::kUnsupported);
  }

  Status reshape(ov_model_t* model, const std::map<std::string, Shape>& shapes) {
    if (shapes.empty()) return {};
    std::vector<const char*> names;
    std::vector<ov_partial_shape_t> partial;
    Status status;
    for (const auto& [name, shape] : shapes) {
      std::vector<ov_dimension_t> dims;
      for (Dim d : shape)
        dims.push_back(d.known() ? ov_dimension_t{d.value(), d.value()} : ov_dimension_t{0, -1});
      const auto rank = static_cast<int64_t>(dims.size());
      ov_partial_shape_t p{};
      status = check(api_.ov_partial_shape_create_dynamic({rank, rank}, dims.data(), &p));
      if (!status) break;
      names.push_back(name.c_str());
      partial.push_back(p);
    }
    if (status) {
      status =
          to_status(api_, api_.ov_model_reshape(model, names.data(), partial.data(), names.size()),
                    Code::kInvalidArgument);
    }
    for (ov_partial_shape_t& p : partial) api_.ov_partial_shape_free(&p);
    return status;
  }

  /// Ports in the order of the file, and under its names: OpenVINO reorders and renames some.
  Status read_ports(bool input, const std::vector<std::string>& names, Ports& to) {
    size_t count = 0;
    HASTEN_CHECK(check(input ? api_.ov_compiled_model_inputs_size(compiled_, &count)
                             : api_.ov_compiled_model_outputs_size(compiled_, &count)));
    for (size_t i = 0; i < count; ++i) {
      ov_output_const_port_t* raw = nullptr;
      // An output that is also another's input may have lost its name: then its place must do.
      bool named = false;
      if (names.size() == count) {
        named = (input ? api_.ov_compiled_model_input_by_name(compiled_, names[i].c_str(), &raw)
                       : api_.ov_compiled_model_output_by_name(compiled_, names[i].c_str(),
                                                               &raw)) == ov_status_e::OK;
      }
      if (!named) {
        HASTEN_CHECK(check(input ? api_.ov_compiled_model_input_by_index(compiled_, i, &raw)
                                 : api_.ov_compiled_model_output_by_index(compiled_, i, &raw)));
      }
      to.raw.push_back(raw);
      HASTEN_TRY(Port port, read_port(raw));
      if (names.size() == count) port.name = names[i];
      to.ports.push_back(std::move(port));
    }
    return {};
  }

  Result<Port> read_port(const ov_output_const_port_t* raw) {
    Port port;
    char* name = nullptr;
    HASTEN_CHECK(check(api_.ov_port_get_any_name(raw, &name)));
    port.name = name;
    api_.ov_free(name);
    ov_element_type_e type{};
    HASTEN_CHECK(check(api_.ov_port_get_element_type(raw, &type)));
    port.dtype = to_dtype(type);
    if (port.dtype == DType::kNone) {
      return fail(Code::kUnsupported,
                  "openvino: '{}' has elements of a type that hasten doesn't pass to it",
                  port.name);
    }
    ov_partial_shape_t shape{};
    HASTEN_CHECK(check(api_.ov_port_get_partial_shape(raw, &shape)));
    port.has_shape = shape.rank.min == shape.rank.max && shape.rank.min >= 0;
    for (int64_t d = 0; port.has_shape && d < shape.rank.min; ++d) {
      const ov_dimension_t& dim = shape.dims[d];
      port.shape.push_back(dim.min == dim.max ? Dim(dim.min) : Dim::fresh());
    }
    api_.ov_partial_shape_free(&shape);
    return port;
  }

  Api api_;
  ov_core_t* core_ = nullptr;
  ov_compiled_model_t* compiled_ = nullptr;
  std::string version_;
  int threads_ = 1;
  Ports inputs_, outputs_;
};

class OvRunner final : public Runner {
 public:
  explicit OvRunner(OvEngine& engine) : engine_(engine), api_(engine.api()) {}
  ~OvRunner() override {
    release(inputs_);
    release(outputs_);
    if (request_ != nullptr) api_.ov_infer_request_free(request_);
  }

  Status open() {
    return check(api_.ov_compiled_model_create_infer_request(engine_.compiled(), &request_));
  }

  Status bind(std::span<const TensorView> inputs) override {
    HASTEN_CHECK(check_inputs(engine_.inputs(), inputs));
    release(inputs_);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorView& in = inputs[i];
      ov_shape_t shape{};
      HASTEN_CHECK(check(
          api_.ov_shape_create(static_cast<int64_t>(in.dims.size()), in.dims.data(), &shape)));
      static char nothing;  // a null pointer is refused even for no elements
      ov_tensor_t* tensor = nullptr;
      const ov_status_e made = api_.ov_tensor_create_from_host_ptr(
          from_dtype(in.dtype), shape, in.data != nullptr ? const_cast<void*>(in.data) : &nothing,
          &tensor);
      api_.ov_shape_free(&shape);
      HASTEN_CHECK(check(made));
      inputs_.push_back(tensor);
      HASTEN_CHECK(check(
          api_.ov_infer_request_set_tensor_by_const_port(request_, engine_.raw_input(i), tensor)));
    }
    bound_ = true;
    return {};
  }

  Status run(Observer* observer) override {
    if (!bound_) return fail(Code::kInvalidArgument, "run before bind: the inputs are not set");
    if (observer != nullptr) observer->run_begin(now_ns());
    const ov_status_e status = api_.ov_infer_request_infer(request_);
    if (observer != nullptr) observer->run_end(now_ns());
    HASTEN_CHECK(check(status));
    return read_outputs();
  }

  std::span<const TensorView> outputs() const override { return views_; }

 private:
  Status check(ov_status_e status) const { return to_status(api_, status, Code::kInternal); }

  void release(std::vector<ov_tensor_t*>& tensors) {
    for (ov_tensor_t* t : tensors) {
      if (t != nullptr) api_.ov_tensor_free(t);
    }
    tensors.clear();
  }

  Status read_outputs() {
    release(outputs_);
    views_.resize(engine_.outputs().size());
    for (size_t i = 0; i < views_.size(); ++i) {
      ov_tensor_t* tensor = nullptr;
      HASTEN_CHECK(check(api_.ov_infer_request_get_tensor_by_const_port(
          request_, engine_.raw_output(i), &tensor)));
      outputs_.push_back(tensor);
      TensorView& view = views_[i];
      view.dtype = engine_.outputs()[i].dtype;
      ov_shape_t shape{};
      HASTEN_CHECK(check(api_.ov_tensor_get_shape(tensor, &shape)));
      view.dims.assign(shape.dims, shape.dims + shape.rank);
      api_.ov_shape_free(&shape);
      void* data = nullptr;
      if (view.count() > 0) HASTEN_CHECK(check(api_.ov_tensor_data(tensor, &data)));
      view.data = data;
    }
    return {};
  }

  OvEngine& engine_;
  const Api& api_;
  ov_infer_request_t* request_ = nullptr;
  bool bound_ = false;
  std::vector<ov_tensor_t*> inputs_, outputs_;
  std::vector<TensorView> views_;
};

Result<std::unique_ptr<Runner>> OvEngine::make_runner() {
  auto runner = std::make_unique<OvRunner>(*this);
  HASTEN_CHECK(runner->open());
  return runner;
}

Status check_precision(const CpuFacts& cpu, Precision precision) {
  if (precision == Precision::kInt8) {
    return fail(
        Code::kUnsupported,
        "engine openvino has no precision=int8 for a float model: quantize the model first");
  }
  if (precision != Precision::kBf16) return {};
  for (const std::string& feature : cpu.features) {
    if (feature == "avx512_bf16" || feature == "amx_bf16") return {};
  }
  return fail(Code::kUnsupported,
              "precision=bf16: this CPU ({}) has neither avx512_bf16 nor amx_bf16", cpu.model);
}

}  // namespace

Result<std::unique_ptr<Engine>> open_openvino(Context& context, const std::string& path,
                                              const EngineOptions& options) {
  HASTEN_CHECK(check_precision(context.cpu(), options.precision));
  if (auto file = MappedFile::open(path); !file) return fail(std::move(file.error()));
  HASTEN_TRY(Api api, load_api());
  auto engine = std::make_unique<OvEngine>(api);
  HASTEN_CHECK(engine->open(path, options));
  return engine;
}

}  // namespace hasten

#else

namespace hasten {

Result<std::unique_ptr<Engine>> open_openvino(Context&, const std::string&, const EngineOptions&) {
  return peer_missing("openvino");
}

}  // namespace hasten

#endif
