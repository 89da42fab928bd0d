#include <algorithm>

#include "base/clock.h"
#include "engine/passes/pass.h"
#include "engine/passes/rewrite.h"

namespace hasten {

#define HASTEN_PASS(name) extern const Pass pass_##name;
#include "engine/passes/passes.inc"
#undef HASTEN_PASS

std::span<const Pass> all_passes() {
  static const std::vector<Pass> passes = {
#define HASTEN_PASS(name) pass_##name,
#include "engine/passes/passes.inc"
#undef HASTEN_PASS
  };
  return passes;
}

namespace {

/// Nodes all of whose outputs are left out do nothing: no pass needs to think of them.
Status drop_nodes_without_outputs(Graph& graph) {
  const Result<int> dropped = for_each_block(graph, [](Block& block) -> Result<int> {
    return static_cast<int>(std::erase_if(block.nodes, [](const Node& node) {
      return std::all_of(node.outputs.begin(), node.outputs.end(),
                         [](ValueId id) { return id == kNoValue; });
    }));
  });
  return dropped ? Status{} : tl::unexpected(dropped.error());
}

}  // namespace

Result<std::vector<PassReport>> run_passes(Graph& graph, PassContext& context,
                                           const std::set<std::string>& disabled,
                                           std::span<const Pass> passes) {
  for (const std::string& name : disabled) {
    bool known = false;
    for (const Pass& pass : passes) known = known || name == pass.name;
    if (!known) {
      std::string names;
      for (const Pass& pass : passes) names += fmt::format(" {}", pass.name);
      return fail(Code::kInvalidArgument, "no pass is called '{}'; there are:{}", name, names);
    }
  }
  HASTEN_CHECK(drop_nodes_without_outputs(graph));
  std::vector<PassReport> reports;
  for (const Pass& pass : passes) {
    if (disabled.count(pass.name)) continue;
    HASTEN_CHECK(context.clock.check());
    const int64_t start = now_ns();
    HASTEN_TRY(const int changes, pass.run(graph, context));
    if (changes > 0) {
      if (Status ok = verify(graph); !ok) {
        return fail(Code::kInternal, "after pass {}: {}", pass.name, ok.error().message);
      }
      if (Status ok = infer_graph(graph, context.evaluate); !ok) {
        return fail(Code::kInternal, "after pass {}: {}", pass.name, ok.error().message);
      }
    }
    reports.push_back({pass.name, changes, static_cast<double>(now_ns() - start) * 1e-6});
  }
  return reports;
}

}  // namespace hasten
