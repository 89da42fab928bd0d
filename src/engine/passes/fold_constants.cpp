// Nodes whose inputs are all constants are run once, here.
//
//   %y = Transpose(%w)          ->   const %y
//
// On the kernels of run time, so the bits are those of run time. Results larger than 1 MB that are
// more than four times their inputs stay as they are (an Expand or Tile of a constant would only
// cost memory), and so does what would pass the limits: of bytes, and of work.
#include <algorithm>

#include "engine/ops/op.h"
#include "engine/ops/work.h"
#include "engine/passes/pass.h"
#include "engine/passes/rewrite.h"

namespace hasten {

namespace {

constexpr int64_t kAlwaysSmall = int64_t{1} << 20;
/// Of all folded nodes: about a second of plain loops.
constexpr double kMaxSteps = 1e9;

/// Bytes of the outputs, or -1 where inference doesn't know them.
int64_t output_bytes(const Graph& graph, const Node& node) {
  int64_t bytes = 0;
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const Value& v = graph.value(id);
    if (!v.has_shape || !is_known(v.shape)) return -1;
    if (v.dtype == DType::kSequence || v.dtype == DType::kOptional) return -1;
    auto count = checked_count(to_dims(v.shape));
    if (!count || *count > INT64_MAX / 64) return -1;
    bytes += *count * static_cast<int64_t>(dtype_size(v.dtype));
  }
  return bytes;
}

Result<int> run(Graph& graph, PassContext& context) {
  int64_t left = context.limits.folded_bytes > 0 ? context.limits.folded_bytes : INT64_MAX;
  double steps_left = kMaxSteps;
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    int changes = 0;
    std::vector<Node> kept;
    for (Node& node : block.nodes) {
      HASTEN_CHECK(context.clock.check());
      bool constant = node.blocks.empty() && node.def != nullptr && !node.def->impure;
      int64_t in_bytes = 0;
      std::vector<Tensor> inputs;
      for (ValueId id : node.inputs) {
        if (id == kNoValue) {
          inputs.emplace_back();
          continue;
        }
        const Value& v = graph.value(id);
        constant = constant && v.is_constant() && v.layout == Layout::kPlain;
        if (!constant) break;
        inputs.push_back(v.constant);
        in_bytes += static_cast<int64_t>(v.constant.bytes());
      }
      const int64_t bytes = constant ? output_bytes(graph, node) : -1;
      constant = constant && bytes >= 0 && bytes <= left &&
                 (bytes <= kAlwaysSmall || bytes <= 4 * in_bytes);
      const double steps = constant ? loop_steps(graph, node) : 0;
      if (constant && steps <= steps_left) {
        steps_left -= steps;
        auto outputs = context.evaluate(node, inputs);
        // A node that fails here would fail at run time, if it ever runs: leave it to that.
        if (outputs) {
          for (size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] == kNoValue) continue;
            Value& v = graph.value(node.outputs[i]);
            v.constant = std::move((*outputs)[i]);
            v.dtype = v.constant.dtype();
            v.has_shape = true;
            v.shape = to_shape(v.constant.dims());
          }
          left -= bytes;
          ++changes;
          continue;
        }
      }
      kept.push_back(std::move(node));
    }
    block.nodes = std::move(kept);
    return changes;
  });
}

}  // namespace

extern const Pass pass_fold_constants;
const Pass pass_fold_constants = {"fold_constants", "op(constants) -> constant", run};

}  // namespace hasten
