// The public API (include/hasten) over Context, Engine and Runner.
#include "engine/exec/engine.h"
#include "hasten/model.h"
#include "hasten/version.h"

namespace hasten::api {

namespace {

Error to_public(const hasten::Error& error) {
  return {static_cast<ErrorCode>(static_cast<int>(error.code)), error.message};
}

TensorSpec to_public(const Port& port) {
  TensorSpec spec{port.name, static_cast<DataType>(static_cast<int>(port.dtype)), {}};
  for (Dim d : port.shape) spec.shape.push_back(d.known() ? d.value() : -1);
  return spec;
}

class FunctionSink final : public LogSink {
 public:
  explicit FunctionSink(LogFunction function) : function_(std::move(function)) {}
  void write(hasten::LogLevel level, std::string_view message) override {
    if (function_) function_(static_cast<LogLevel>(static_cast<int>(level)), message);
  }

 private:
  LogFunction function_;
};

class ContextImpl final : public Context {
 public:
  explicit ContextImpl(LogFunction log) : sink(std::move(log)) {}
  std::string isa() const override { return isa_name(inner->isa()); }

  FunctionSink sink;
  std::unique_ptr<hasten::Context> inner;
};

class ModelImpl final : public Model, public std::enable_shared_from_this<ModelImpl> {
 public:
  ModelImpl(std::shared_ptr<Context> context, std::unique_ptr<Engine> made)
      : context_(std::move(context)), engine(std::move(made)) {
    for (const Port& p : engine->inputs()) inputs_.push_back(to_public(p));
    for (const Port& p : engine->outputs()) outputs_.push_back(to_public(p));
  }
  const std::vector<TensorSpec>& inputs() const override { return inputs_; }
  const std::vector<TensorSpec>& outputs() const override { return outputs_; }
  Result<std::unique_ptr<Session>> make_session() override;

 private:
  std::shared_ptr<Context> context_;  // outlives the engine

 public:
  std::unique_ptr<Engine> engine;

 private:
  std::vector<TensorSpec> inputs_, outputs_;
};

class SessionImpl final : public Session {
 public:
  SessionImpl(std::shared_ptr<ModelImpl> model, std::unique_ptr<Runner> runner)
      : model_(std::move(model)), runner_(std::move(runner)) {}

  Result<std::vector<TensorView>> run(std::span<const TensorView> inputs) override {
    std::vector<hasten::TensorView> views;
    for (const TensorView& v : inputs) {
      const int number = static_cast<int>(v.type);
      if (!dtype_supported(number)) {
        return Error{ErrorCode::kInvalidArgument, fmt::format("data type {} is unknown", number)};
      }
      views.push_back({static_cast<DType>(number), v.shape, v.data, Layout::kPlain});
    }
    if (auto ok = runner_->bind(views); !ok) return to_public(ok.error());
    if (auto ok = runner_->run(); !ok) return to_public(ok.error());
    std::vector<TensorView> out;
    for (const hasten::TensorView& v : runner_->outputs()) {
      out.push_back({static_cast<DataType>(static_cast<int>(v.dtype)), v.dims, v.data});
    }
    return out;
  }

 private:
  std::shared_ptr<ModelImpl> model_;
  std::unique_ptr<Runner> runner_;
};

Result<std::unique_ptr<Session>> ModelImpl::make_session() {
  auto runner = engine->make_runner();
  if (!runner) return to_public(runner.error());
  return std::unique_ptr<Session>(new SessionImpl(shared_from_this(), std::move(*runner)));
}

}  // namespace

const char* version() { return HASTEN_VERSION; }

Result<std::shared_ptr<Context>> Context::make(LogFunction log) {
  auto context = std::make_shared<ContextImpl>(std::move(log));
  auto inner = hasten::Context::make(context->sink);
  if (!inner) return to_public(inner.error());
  context->inner = std::move(*inner);
  return std::shared_ptr<Context>(std::move(context));
}

Result<std::shared_ptr<Model>> Model::open(std::shared_ptr<Context> context,
                                           const std::string& path, const ModelOptions& options) {
  EngineOptions engine_options;
  bool known = false;
  for (EngineKind kind : {EngineKind::kNative, EngineKind::kOnnxRuntime, EngineKind::kOpenVino}) {
    if (options.engine != engine_kind_name(kind)) continue;
    engine_options.kind = kind;
    known = true;
  }
  if (!known) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("no engine is called '{}'; there are native, onnxruntime, openvino",
                             options.engine)};
  }
  engine_options.threads = options.threads;
  engine_options.math = options.exact_math ? MathMode::kExact : MathMode::kFast;
  engine_options.memory_limit = options.memory_limit;
  auto& inner = *static_cast<ContextImpl&>(*context).inner;
  auto engine = open_engine(inner, path, engine_options);
  if (!engine) return to_public(engine.error());
  for (const auto* list : {&(*engine)->inputs(), &(*engine)->outputs()}) {
    for (const Port& port : *list) {
      if (port.dtype != DType::kSequence && port.dtype != DType::kOptional) continue;
      return Error{
          ErrorCode::kUnsupported,
          fmt::format("'{}' is not a tensor: this interface carries tensors only", port.name)};
    }
  }
  return std::shared_ptr<Model>(
      std::make_shared<ModelImpl>(std::move(context), std::move(*engine)));
}

}  // namespace hasten::api
