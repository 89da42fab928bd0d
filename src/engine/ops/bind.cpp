#include "engine/ops/bind.h"

#include <algorithm>

namespace hasten {

namespace {

std::string range_text(int low, int high) {
  if (high < 0) return fmt::format("at least {}", low);
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

bool lists(const OpDef& def, std::string_view attr) {
  return std::any_of(def.attrs.begin(), def.attrs.end(),
                     [&](const char* known) { return attr == known; });
}

Status check_counts(const Node& node, const OpDef& def) {
  const auto ins = static_cast<int>(node.inputs.size());
  const auto outs = static_cast<int>(node.outputs.size());
  if (ins < def.min_inputs || (def.max_inputs >= 0 && ins > def.max_inputs)) {
    return fail(Code::kInvalidModel, "{}: has {} inputs, the operator takes {}", node.label(), ins,
                range_text(def.min_inputs, def.max_inputs));
  }
  if (outs < def.min_outputs || (def.max_outputs >= 0 && outs > def.max_outputs)) {
    return fail(Code::kInvalidModel, "{}: has {} outputs, the operator gives {}", node.label(),
                outs, range_text(def.min_outputs, def.max_outputs));
  }
  // Nothing may be left out of a list; but nodes with blocks have leading inputs that are no list.
  const bool list = def.max_inputs < 0 && def.reference != nullptr;
  for (int i = 0; i < (list ? ins : def.min_inputs); ++i) {
    if (!node.has_input(static_cast<size_t>(i))) {
      return fail(Code::kInvalidModel, "{}: input {} is required, but absent", node.label(), i);
    }
  }
  return {};
}

Status bind_block(Graph& graph, Block& block) {
  for (Node& node : block.nodes) {
    if (node.version == 0) {
      auto it = graph.opsets.find(node.domain);
      if (it != graph.opsets.end()) node.version = it->second;
    }
    HASTEN_CHECK(bind_node(node));
    for (auto& [name, inner] : node.blocks) HASTEN_CHECK(bind_block(graph, inner));
  }
  return {};
}

}  // namespace

Status bind_node(Node& node) {
  node.def = nullptr;
  const OpDef* def = find_op(node.domain, node.op, node.version);
  if (def == nullptr) return {};
  HASTEN_CHECK(check_counts(node, *def));
  const bool known = std::all_of(node.attrs.begin(), node.attrs.end(),
                                 [&](const auto& attr) { return lists(*def, attr.first); }) &&
                     std::all_of(node.blocks.begin(), node.blocks.end(),
                                 [&](const auto& block) { return lists(*def, block.name); });
  if (known) node.def = def;
  return {};
}

Status bind_graph(Graph& graph) { return bind_block(graph, graph.main); }

Status check_bound(const Node& node) {
  if (node.def != nullptr) return {};
  return fail(Code::kUnsupported, "{}: operator {}{}{} of opset {} is not supported", node.label(),
              node.domain, node.domain.empty() ? "" : "::", node.op, node.version);
}

Status check_bound(const Block& block) {
  for (const Node& node : block.nodes) {
    HASTEN_CHECK(check_bound(node));
    for (const auto& [name, inner] : node.blocks) HASTEN_CHECK(check_bound(inner));
  }
  return {};
}

}  // namespace hasten
