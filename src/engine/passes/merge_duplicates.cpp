// Nodes that compute the same from the same are computed once.
//
//   %a = Relu(%x); %b = Relu(%x)   ->   uses of %b read %a
//
// Small equal constants are merged first, so that nodes that differ only in their copies of a
// constant are the same too.
#include <cstring>
#include <map>

#include "engine/ir/text.h"
#include "engine/ops/op.h"
#include "engine/passes/pass.h"
#include "engine/passes/rewrite.h"

namespace hasten {

namespace {

constexpr size_t kMaxConstantBytes = 4096;

std::string attr_key(const Attr& attr) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          if (v.dtype() == DType::kString) return tensor_text(v.view(), v.count());
          return fmt::format("{}{}:{}", dtype_name(v.dtype()), dims_text(v.dims()),
                             std::string(v.template as<char>(), v.bytes()));
        } else if constexpr (std::is_same_v<T, float>) {
          return fmt::format("{:a}", v);
        } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, std::string>) {
          return fmt::format("{}", v);
        } else if constexpr (std::is_same_v<T, std::vector<float>>) {
          std::string s;
          for (float x : v) s += fmt::format("{:a},", x);
          return s;
        } else {
          return fmt::format("{}", fmt::join(v, ","));
        }
      },
      attr);
}

std::string node_key(const Node& node) {
  std::string key =
      fmt::format("{}:{}:{}({})", node.domain, node.op, node.version, fmt::join(node.inputs, ","));
  for (const auto& [name, attr] : node.attrs) key += fmt::format("|{}={}", name, attr_key(attr));
  key += fmt::format("|{}", node.outputs.size());
  return key;
}

/// The first constant with the same dtype, dims and bytes, for each small constant.
std::map<ValueId, ValueId> equal_constants(const Graph& graph) {
  std::map<std::string, ValueId> first;
  std::map<ValueId, ValueId> same;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Tensor& t = graph.values[i].constant;
    if (t.empty() || t.dtype() == DType::kString || t.bytes() > kMaxConstantBytes) continue;
    auto [it, is_new] = first.try_emplace(attr_key(t), static_cast<ValueId>(i));
    if (!is_new) same[static_cast<ValueId>(i)] = it->second;
  }
  return same;
}

int redirect(Block& block, const std::map<ValueId, ValueId>& same) {
  int changes = 0;
  for (Node& node : block.nodes) {
    for (ValueId& id : node.inputs) {
      auto it = same.find(id);
      if (it == same.end()) continue;
      id = it->second;
      ++changes;
    }
    for (auto& [name, inner] : node.blocks) changes += redirect(inner, same);
  }
  return changes;
}

Result<int> run(Graph& graph, PassContext&) {
  const int redirected = redirect(graph.main, equal_constants(graph));
  HASTEN_TRY(const int merged, for_each_block(graph, [&](Block& block) -> Result<int> {
               Rewriter rewriter(graph, block);
               std::map<std::string, size_t> first;
               int changes = 0;
               for (size_t i = 0; i < rewriter.size(); ++i) {
                 const Node& node = rewriter.node(i);
                 if (!node.blocks.empty() || node.def == nullptr || node.def->impure) continue;
                 auto [it, is_new] = first.try_emplace(node_key(node), i);
                 if (is_new) continue;
                 const Node& same = rewriter.node(it->second);
                 bool mergeable = true;
                 for (size_t k = 0; k < node.outputs.size(); ++k) {
                   mergeable =
                       mergeable &&
                       (node.outputs[k] == kNoValue) == (same.outputs[k] == kNoValue) &&
                       (node.outputs[k] == kNoValue || !rewriter.is_output(node.outputs[k]));
                 }
                 if (!mergeable) continue;
                 for (size_t k = 0; k < node.outputs.size(); ++k) {
                   if (node.outputs[k] != kNoValue)
                     rewriter.replace_uses(node.outputs[k], same.outputs[k]);
                 }
                 rewriter.remove(i);
                 ++changes;
               }
               rewriter.sweep();
               return changes;
             }));
  return redirected + merged;
}

}  // namespace

extern const Pass pass_merge_duplicates;
const Pass pass_merge_duplicates = {"merge_duplicates", "equal nodes of equal inputs -> one", run};

}  // namespace hasten
