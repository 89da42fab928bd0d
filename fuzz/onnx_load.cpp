#include "engine/onnx/load.h"

#include <limits>
#include <optional>

#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/infer_graph.h"
#include "engine/ops/work.h"
#include "fuzz/targets.h"

namespace hasten::fuzz {

namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 20;  // of an input, and of all a run takes
constexpr double kMaxSteps = 1e7;                // of a run: a second or so with sanitizers
constexpr int64_t kSymbol = 2;                   // what an open dim of an input becomes

/// Inputs of zeros, where the graph says what they are and they are small.
std::optional<std::vector<Tensor>> inputs_of(const Engine& engine) {
  std::vector<Tensor> inputs;
  for (const Port& port : engine.inputs()) {
    if (!port.has_shape || holds_objects(port.dtype)) return std::nullopt;
    Dims dims;
    for (const Dim d : port.shape) dims.push_back(d.known() ? d.value() : kSymbol);
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

/// What may take long without anything being wrong: large windows over large tensors; of loops
/// nothing is known.
double steps_of(const Graph& graph, const Block& block) {
  double steps = 0;
  for (const Node& node : block.nodes) {
    const bool loops = !node.blocks.empty() && node.op != "If";
    if (loops || !multiply_adds(graph, node)) return std::numeric_limits<double>::infinity();
    steps += loop_steps(graph, node);
    for (const auto& [name, body] : node.blocks) steps += steps_of(graph, body);
  }
  return steps;
}

bool ends_soon(Graph graph) {
  for (const ValueId id : graph.main.inputs) {
    for (Dim& d : graph.value(id).shape) d = d.known() ? d : Dim(kSymbol);
  }
  return infer_graph(graph, {}) && steps_of(graph, graph.main) <= kMaxSteps;
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
