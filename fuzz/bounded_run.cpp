#include "fuzz/bounded_run.h"

#include <limits>
#include <optional>

#include "engine/ops/infer_graph.h"
#include "engine/ops/work.h"

namespace hasten::fuzz {

namespace {

constexpr double kMaxSteps = 1e7;  // of a run: a second or so with sanitizers
constexpr int64_t kSymbol = 2;     // what an open dim of an input becomes

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

}  // namespace

bool ends_soon(Graph graph) {
  for (const ValueId id : graph.main.inputs) {
    for (Dim& d : graph.value(id).shape) d = d.known() ? d : Dim(kSymbol);
  }
  return infer_graph(graph, {}) && steps_of(graph, graph.main) <= kMaxSteps;
}

void run_on_zeros(Engine& engine) {
  auto inputs = inputs_of(engine);
  if (!inputs) return;
  auto runner = engine.make_runner();
  if (!runner) return;
  std::vector<TensorView> views;
  for (const Tensor& t : *inputs) views.push_back(t.view());
  if (!(*runner)->bind(views)) return;
  if ((*runner)->run()) (void)(*runner)->outputs();
}

}  // namespace hasten::fuzz
