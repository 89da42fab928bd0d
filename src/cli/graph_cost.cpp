#include "cli/graph_cost.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/ops/work.h"
#include "engine/plan/step_info.h"

namespace hasten {

namespace {

/// Dims of a value if all are numbers.
std::optional<Dims> dims_of(const Graph& graph, ValueId id) {
  if (id == kNoValue) return std::nullopt;
  const Value& value = graph.value(id);
  if (value.is_constant()) return value.constant.dims();
  if (!value.has_shape || !is_known(value.shape)) return std::nullopt;
  return to_dims(value.shape);
}

double product(const Dims& dims) {
  double n = 1;
  for (const int64_t d : dims) n *= static_cast<double>(d);
  return n;
}

bool is_one_of(const std::string& op, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&op](const char* n) { return op == n; });
}

std::optional<double> multiply_adds(const Graph& graph, const Node& node) {
  return hasten::multiply_adds(
      node, [&](size_t i) { return dims_of(graph, node.input(i)); },
      dims_of(graph, node.outputs.empty() ? kNoValue : node.outputs[0]));
}

std::optional<double> moved_bytes(const Graph& graph, const Node& node) {
  if (is_one_of(node.op,
                {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Shape", "Size"}))
    return 0;
  auto bytes_of = [&](ValueId id) -> std::optional<double> {
    if (id == kNoValue) return 0;
    const auto dims = dims_of(graph, id);
    if (!dims) return std::nullopt;
    return product(*dims) * static_cast<double>(dtype_size(graph.value(id).dtype));
  };
  double written = 0, read = 0;
  for (ValueId id : node.outputs) {
    const auto bytes = bytes_of(id);
    if (!bytes) return std::nullopt;
    written += *bytes;
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto bytes = bytes_of(node.inputs[i]);
    if (!bytes) return std::nullopt;
    read += i == 0 ? first_input_bytes(node.op, *bytes, written) : *bytes;
  }
  return read + written;
}

GraphCost block_cost(const Graph& graph, const Block& block) {
  GraphCost cost;
  for (const Node& node : block.nodes) {
    GraphCost inner;
    for (const auto& [name, body] : node.blocks) {
      const GraphCost branch = block_cost(graph, body);
      if (branch.flops > inner.flops || (branch.flops == inner.flops && branch.bytes > inner.bytes))
        inner = branch;
    }
    const auto macs = multiply_adds(graph, node);
    const auto bytes = moved_bytes(graph, node);
    cost.flops += 2 * macs.value_or(0) + inner.flops;
    cost.bytes += bytes.value_or(0) + inner.bytes;
    cost.unknown += (macs && bytes ? 0 : 1) + inner.unknown;
  }
  return cost;
}

void count_nodes(const Block& block, GraphContents& contents) {
  for (const Node& node : block.nodes) {
    ++contents.nodes;
    ++contents.ops[node.domain.empty() ? node.op : node.domain + "::" + node.op];
    for (const auto& [name, body] : node.blocks) count_nodes(body, contents);
  }
}

}  // namespace

GraphCost graph_cost(const Graph& graph) { return block_cost(graph, graph.main); }

GraphContents graph_contents(const Graph& graph) {
  GraphContents contents;
  count_nodes(graph.main, contents);
  for (const Value& value : graph.values) {
    if (!value.is_constant()) continue;
    contents.params += value.constant.count();
    contents.weight_bytes += static_cast<double>(value.constant.bytes());
  }
  return contents;
}

}  // namespace hasten
