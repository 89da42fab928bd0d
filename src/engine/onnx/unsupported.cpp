#include <algorithm>

#include "engine/onnx/load.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

void explain(const Node& node, Unsupported& u) {
  const std::string in_domain =
      node.domain.empty() ? "" : fmt::format(" of domain '{}'", node.domain);
  if (const OpDef* def = find_op(node.domain, node.op, node.version);
      def != nullptr && node.domain != "hasten") {
    auto unknown = [&](const std::string& name) {
      return std::none_of(def->attrs.begin(), def->attrs.end(),
                          [&](const char* known) { return name == known; });
    };
    std::vector<std::string> names;
    for (const auto& [name, attr] : node.attrs) {
      if (unknown(name)) names.push_back(name);
    }
    for (const auto& [name, block] : node.blocks) {
      if (unknown(name)) names.push_back(name);
    }
    u.what = fmt::format("attribute '{}' of operator {}{} (opset {}) is unknown",
                         fmt::join(names, "', '"), node.op, in_domain, node.version);
    u.fix = "remove the attribute from the node if it has no effect";
    return;
  }
  if (node.domain != "hasten" && knows_op(node.domain, node.op)) {
    u.what = fmt::format("operator {}{} is not implemented for opset {}", node.op, in_domain,
                         node.version);
    u.fix = fmt::format("convert the model to an opset of 13 to {} (onnx.version_converter)",
                        kLastOpset);
    return;
  }
  u.what = fmt::format("operator {}{} is unknown", node.op, in_domain);
  u.fix = "run the model with @engine=onnxruntime or @engine=openvino";
}

void find(const Block& block, std::vector<Unsupported>& out) {
  for (const Node& node : block.nodes) {
    if (node.def == nullptr) {
      Unsupported u{node.name, node.op, node.domain, node.version, "", ""};
      explain(node, u);
      out.push_back(std::move(u));
    }
    for (const auto& [name, inner] : node.blocks) find(inner, out);
  }
}

}  // namespace

std::vector<Unsupported> find_unsupported(const Graph& graph) {
  std::vector<Unsupported> out;
  find(graph.main, out);
  return out;
}

Status check_supported(const Graph& graph) {
  const std::vector<Unsupported> all = find_unsupported(graph);
  if (all.empty()) return {};
  // Each kind once, with the first node that has it.
  std::vector<std::string> kinds;
  std::string text;
  for (const Unsupported& u : all) {
    if (std::find(kinds.begin(), kinds.end(), u.what) != kinds.end()) continue;
    kinds.push_back(u.what);
    if (kinds.size() > 8) continue;
    text += fmt::format("{}{} (node '{}')", text.empty() ? "" : "; ", u.what, u.node);
  }
  if (kinds.size() > 8) text += fmt::format("; and {} more", kinds.size() - 8);
  return fail(Code::kUnsupported, "{}: {}", text, all[0].fix);
}

}  // namespace hasten
