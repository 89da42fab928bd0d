#include "engine/adapters/adapters.h"
#include "engine/exec/native.h"
#include "engine/onnx/load.h"
#include "engine/plan/plan_file.h"

namespace hasten {

namespace {

Result<std::unique_ptr<Engine>> open_plan(Context& context, const std::string& path,
                                          const EngineOptions& options) {
  HASTEN_TRY(PlanFile file, load_plan(path, isa_name(context.isa()), options.verify_plan));
  if (file.exact_math != (options.math == MathMode::kExact)) {
    return fail(Code::kInvalidArgument, "plan file '{}' was made with math={}", path,
                file.exact_math ? "exact" : "fast");
  }
  if (!options.shapes.empty()) {
    return fail(Code::kInvalidArgument,
                "plan file '{}': shape= belongs to the .onnx file it is made from", path);
  }
  HASTEN_TRY(auto engine,
             NativeEngine::resume(context, std::move(file.graph), options, std::move(file.packed)));
  return engine;
}

Result<std::unique_ptr<Engine>> open_native(Context& context, const std::string& path,
                                            const EngineOptions& options) {
  if (options.precision != Precision::kModel && options.precision != Precision::kFp32) {
    return fail(Code::kUnsupported,
                "engine=native has no precision={}; take fp32, or engine=openvino",
                precision_name(options.precision));
  }
  if (!options.extra.empty()) {
    return fail(Code::kInvalidArgument, "engine=native has no option '{}'",
                options.extra.begin()->first);
  }
  if (path.ends_with(".hplan")) return open_plan(context, path, options);
  LoadOptions load;
  load.shapes = options.shapes;
  load.limits = options.limits;
  load.clock = LoadClock(options.limits.seconds);
  HASTEN_TRY(Graph graph, load_onnx(path, load));
  HASTEN_TRY(auto engine, NativeEngine::compile(context, std::move(graph), options, load.clock));
  return engine;
}

}  // namespace

bool engine_built_in(EngineKind kind) {
  switch (kind) {
#if !defined(HASTEN_WITH_ONNXRUNTIME)
    case EngineKind::kOnnxRuntime:
      return false;
#endif
#if !defined(HASTEN_WITH_OPENVINO)
    case EngineKind::kOpenVino:
      return false;
#endif
    default:
      return true;
  }
}

Result<std::unique_ptr<Engine>> open_engine(Context& context, const std::string& path,
                                            const EngineOptions& options) {
  switch (options.kind) {
    case EngineKind::kOnnxRuntime:
      return open_onnxruntime(context, path, options);
    case EngineKind::kOpenVino:
      return open_openvino(context, path, options);
    default:
      return open_native(context, path, options);
  }
}

}  // namespace hasten
