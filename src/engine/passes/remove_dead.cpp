// Nodes whose outputs nobody reads disappear; so do the elements of constants that nobody reads.
#include "engine/ops/op.h"
#include "engine/passes/pass.h"
#include "engine/passes/rewrite.h"

namespace hasten {

namespace {

int remove_in(Block& block, std::vector<int>& uses) {
  int changes = 0;
  std::vector<bool> dead(block.nodes.size(), false);
  for (size_t i = block.nodes.size(); i-- > 0;) {
    Node& node = block.nodes[i];
    bool used = false;
    for (ValueId id : node.outputs)
      used = used || (id != kNoValue && uses[static_cast<size_t>(id)] > 0);
    if (!used) {
      for_each_use(node, [&](ValueId id) { --uses[static_cast<size_t>(id)]; });
      dead[i] = true;
      ++changes;
      continue;
    }
    for (auto& [name, inner] : node.blocks) changes += remove_in(inner, uses);
  }
  if (changes == 0) return 0;
  std::vector<Node> kept;
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    if (!dead[i]) kept.push_back(std::move(block.nodes[i]));
  }
  block.nodes = std::move(kept);
  return changes;
}

Result<int> run(Graph& graph, PassContext&) {
  std::vector<int> uses = count_uses(graph);
  const int changes = remove_in(graph.main, uses);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (uses[i] == 0) graph.values[i].constant = Tensor();
  }
  return changes;
}

}  // namespace

extern const Pass pass_remove_dead;
const Pass pass_remove_dead = {"remove_dead", "nodes that nobody reads -> nothing", run};

}  // namespace hasten
