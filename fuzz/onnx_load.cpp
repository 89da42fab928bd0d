#include "engine/onnx/load.h"

#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/infer_graph.h"
#include "fuzz/bounded_run.h"
#include "fuzz/targets.h"

namespace hasten::fuzz {

namespace {

/// Compiles and runs, where the limits allow it; errors are answers too.
void run(Graph graph, const LoadLimits& limits) {
  static const auto context = *Context::make();
  EngineOptions options;
  options.threads = 1;
  options.limits = limits;
  options.memory_limit = kMaxBytes;
  auto engine =
      NativeEngine::compile(*context, std::move(graph), options, LoadClock(limits.seconds));
  if (engine) run_on_zeros(**engine);
}

}  // namespace

std::string onnx_load(Input input) {
  const auto bytes = std::as_bytes(input);
  LoadOptions options;
  options.limits.bytes = kMaxBytes;
  options.limits.nodes = 1000;
  options.limits.folded_bytes = kMaxBytes;
  options.limits.seconds = 2;
  options.keep_unsupported = true;
  auto graph = load_onnx_bytes(bytes, "", options);
  if (!graph) return "";
  if (auto ok = verify(*graph); !ok) return "loads, but doesn't verify: " + ok.error().message;
  if (auto list = list_unsupported(bytes); !list) {
    return "loads, but can't be listed: " + list.error().message;
  }
  Graph copy = *graph;
  std::vector<RefusedNode> refused;
  if (!infer_graph(copy, {}, nullptr, &refused)) return "";
  print_graph(copy);
  if (refused.empty() && ends_soon(*graph)) run(std::move(*graph), options.limits);
  return "";
}

}  // namespace hasten::fuzz
