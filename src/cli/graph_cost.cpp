#include "cli/graph_cost.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/ops/work.h"
#include "engine/plan/step_info.h"

namespace hasten {

namespace {

std::optional<double> moved_bytes(const Graph& graph, const Node& node) {
  constexpr std::array<std::string_view, 7> kMoveNothing = {
      "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Shape", "Size"};
  if (std::find(kMoveNothing.begin(), kMoveNothing.end(), node.op) != kMoveNothing.end()) return 0;
  auto bytes_of = [&](ValueId id) -> std::optional<double> {
    if (id == kNoValue) return 0;
    const auto dims = known_dims(graph, id);
    if (!dims) return std::nullopt;
    return element_count(*dims) * static_cast<double>(dtype_size(graph.value(id).dtype));
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
