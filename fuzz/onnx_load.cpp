#include "engine/onnx/load.h"

#include <optional>

#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/infer_graph.h"
#include "fuzz/targets.h"

namespace hasten::fuzz {

namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 20;  // of an input, and of all a run takes

/// Inputs of zeros, where the graph says what they are and they are small.
std::optional<std::vector<Tensor>> inputs_of(const Engine& engine) {
  std::vector<Tensor> inputs;
  for (const Port& port : engine.inputs()) {
    if (!port.has_shape || holds_objects(port.dtype)) return std::nullopt;
    Dims dims;
    for (const Dim d : port.shape) dims.push_back(d.known() ? d.value() : 2);
    auto count = checked_count(dims);
    if (!count || *count > kMaxBytes / 8) return std::nullopt;
    auto tensor = Tensor::make(port.dtype, std::move(dims));
    if (!tensor) return std::nullopt;
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

/// Compiles and runs, where the limits allow it; errors are answers too.
void run(Graph graph, const LoadLimits& limits) {
  static const auto context = *Context::make();
  EngineOptions options;
  options.threads = 1;
  options.limits = limits;
  options.memory_limit = kMaxBytes;
  auto engine =
      NativeEngine::compile(*context, std::move(graph), options, LoadClock(limits.seconds));
  if (!engine) return;
  auto inputs = inputs_of(**engine);
  if (!inputs) return;
  auto runner = (*engine)->make_runner();
  if (!runner) return;
  std::vector<TensorView> views;
  for (const Tensor& t : *inputs) views.push_back(t.view());
  if (!(*runner)->bind(views)) return;
  if ((*runner)->run()) (void)(*runner)->outputs();
}

/// Loops may run long without anything being wrong with the loader.
bool has_blocks(const Graph& graph) {
  for (const Node& node : graph.main.nodes) {
    if (!node.blocks.empty()) return true;
  }
  return false;
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
  if (refused.empty() && !has_blocks(*graph)) run(std::move(*graph), options.limits);
  return "";
}

}  // namespace hasten::fuzz
