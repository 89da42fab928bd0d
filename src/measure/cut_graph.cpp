#include "measure/cut_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/exec/native.h"
#include "engine/ops/discontinuous.h"

namespace hasten {

namespace {

/// Which values depend on the elements of the graph's inputs, and not on their shapes alone.
std::vector<bool> find_data(const Graph& graph) {
  std::vector<bool> data(graph.values.size(), false);
  for (ValueId id : graph.main.inputs) data[static_cast<size_t>(id)] = true;
  for (const Node& node : graph.main.nodes) {
    if (node.op == "Shape" || node.op == "Size") continue;
    bool any = false;
    for_each_use(node, [&](ValueId id) { any = any || data[static_cast<size_t>(id)]; });
    for (ValueId id : node.outputs) {
      if (any && id != kNoValue) data[static_cast<size_t>(id)] = true;
    }
  }
  return data;
}

size_t bytes_of(const TensorView& v) {
  return static_cast<size_t>(v.count()) * dtype_size(v.dtype);
}

}  // namespace

size_t CutGraph::nodes() const {
  size_t n = 0;
  for (const auto& [op, count] : ops) n += count;
  return n;
}

std::optional<CutGraph> cut_graph(const Graph& graph) {
  CutGraph cut;
  cut.graph = graph;
  Block& main = cut.graph.main;
  const std::vector<bool> data = find_data(graph);
  std::vector<ValueId> read;  // by the nodes that are gone
  main.nodes.clear();
  for (const Node& node : graph.main.nodes) {
    std::vector<ValueId> floats;
    bool decides = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue || !data[static_cast<size_t>(id)]) continue;
      if (is_float(graph.value(id).dtype)) floats.push_back(id);
      decides = decides || decides_on(graph, node, i);
    }
    if (!decides) {
      main.nodes.push_back(node);
      continue;
    }
    ++cut.ops[node.op];
    read.insert(read.end(), floats.begin(), floats.end());
    for (ValueId id : node.outputs) {
      if (id != kNoValue) cut.fed.push_back(id);
    }
  }
  if (cut.ops.empty()) return std::nullopt;
  main.inputs.insert(main.inputs.end(), cut.fed.begin(), cut.fed.end());
  const std::set<ValueId> inputs(main.inputs.begin(), main.inputs.end());
  std::set<ValueId> seen;
  const std::vector<ValueId> old = std::move(main.outputs);
  main.outputs.clear();
  for (const std::vector<ValueId>* ids : {&old, &std::as_const(read)}) {
    for (ValueId id : *ids) {
      if (inputs.count(id) == 0 && seen.insert(id).second) main.outputs.push_back(id);
    }
  }
  if (main.outputs.empty()) return std::nullopt;
  return cut;
}

Result<FedSamples> feed_samples(Context& context, const Graph& graph, const CutGraph& cut,
                                EngineOptions options, std::span<const InputSet> samples,
                                size_t bytes) {
  Graph tapped = graph;
  tapped.main.outputs = cut.fed;
  tapped.main.outputs.insert(tapped.main.outputs.end(), cut.graph.main.outputs.begin(),
                             cut.graph.main.outputs.end());
  options.enable_passes = false;
  HASTEN_TRY(const auto engine, NativeEngine::compile(context, std::move(tapped), options));
  HASTEN_TRY(const auto runner, engine->make_runner());
  FedSamples out;
  size_t taken = 0;
  for (const InputSet& sample : samples) {
    HASTEN_CHECK(runner->bind(sample));
    HASTEN_CHECK(runner->run());
    const auto values = runner->outputs();
    size_t more = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      more += bytes_of(values[i]) * (i < cut.fed.size() ? 1 : 3);
    }
    if (!out.sets.empty() && more > bytes - std::min(taken, bytes)) break;
    taken += more;
    InputSet& set = out.sets.emplace_back(sample);
    std::vector<Tensor>& fed = out.fed.emplace_back();
    for (size_t i = 0; i < cut.fed.size(); ++i) {
      HASTEN_TRY(fed.emplace_back(), Tensor::copy(values[i]));
      set.push_back(fed.back().view());
    }
  }
  return out;
}

}  // namespace hasten
