// Convolutions and what lies between them run on nchw16c, with the fewest reorders.
//
//   %y = Conv(%x, W); %z = Relu(%y); %r = Reshape(%z)
//       ->   %xb = hasten.Reorder(%x) {to="nchw16c"}; %yb = Conv(%xb, W); %zb = Relu(%yb)
//            %z = hasten.Reorder(%zb) {to="plain"}; %r = Reshape(%z)
//
// One walk in order: a convolution asks for blocked inputs, others follow where what they read is
// blocked already. A value may exist in both layouts; each is made at most once. Same bits, but
// for means over pixels, which sum in another order: within 1e-6 of their scale.
#include <functional>

#include "engine/ops/layout_rules.h"
#include "engine/passes/pass.h"
#include "engine/passes/rewrite.h"

namespace hasten {

namespace {

class Placer {
 public:
  explicit Placer(Graph& graph)
      : graph_(graph),
        rewriter_(graph, graph.main),
        blocked_of_(graph.values.size(), kNoValue),
        plain_(graph.values.size(), true) {}

  int run() {
    for (size_t i = 0; i < rewriter_.size(); ++i) visit(i);
    for (ValueId id : graph_.main.outputs) need_plain(id, rewriter_.size());
    rewriter_.sweep();
    return changes_;
  }

 private:
  bool is_blocked(ValueId id) const { return blocked_of_[static_cast<size_t>(id)] != kNoValue; }

  void visit(size_t i) {
    const auto rule = blocked_rule(graph_, rewriter_.node(i));
    if (rule && worth_it(*rule, rewriter_.node(i))) {
      apply(*rule, i);
      return;
    }
    for_each_use(rewriter_.node(i), [&](ValueId id) { need_plain(id, i); });
  }

  bool worth_it(const BlockedRule& rule, const Node& node) const {
    if (rule.worth_reorder) return true;
    for (size_t k = 0; k < rule.inputs.size(); ++k) {
      if (rule.inputs[k] == InputLayout::kBlocked && is_blocked(node.inputs[k])) return true;
    }
    return false;
  }

  void apply(const BlockedRule& rule, size_t i) {
    for (size_t k = 0; k < rule.inputs.size(); ++k) {
      const ValueId id = rewriter_.node(i).inputs[k];
      if (id == kNoValue) continue;
      if (rule.inputs[k] == InputLayout::kPlain) {
        need_plain(id, i);
      } else if (rule.inputs[k] == InputLayout::kBlocked) {
        rewriter_.set_input(i, k, need_blocked(id, i));
      } else if (is_blocked(id)) {
        rewriter_.set_input(i, k, blocked_of_[static_cast<size_t>(id)]);
      }
    }
    if (!rule.output_blocked) return;
    const ValueId out = rewriter_.node(i).outputs[0];
    const ValueId blocked = new_blocked(out);
    rewriter_.set_output(i, 0, blocked);
    plain_[static_cast<size_t>(out)] = false;
    ++changes_;
  }

  ValueId new_blocked(ValueId id) {
    const Value like = graph_.value(id);
    const ValueId blocked = rewriter_.new_value(like.name + ".nchw16c", like.dtype);
    Value& v = graph_.value(blocked);
    v.has_shape = true;
    v.shape = like.shape;
    v.layout = Layout::kNchw16c;
    blocked_of_[static_cast<size_t>(id)] = blocked;
    return blocked;
  }

  ValueId need_blocked(ValueId id, size_t before) {
    if (!is_blocked(id)) {
      const ValueId blocked = new_blocked(id);
      insert_reorder(id, blocked, Layout::kNchw16c, before);
    }
    return blocked_of_[static_cast<size_t>(id)];
  }

  void need_plain(ValueId id, size_t before) {
    if (static_cast<size_t>(id) >= plain_.size() || plain_[static_cast<size_t>(id)]) return;
    insert_reorder(blocked_of_[static_cast<size_t>(id)], id, Layout::kPlain, before);
    plain_[static_cast<size_t>(id)] = true;
  }

  void insert_reorder(ValueId from, ValueId to, Layout layout, size_t before) {
    rewriter_.insert_before(before, reorder_node(graph_, from, to, layout));
    ++changes_;
  }

  Graph& graph_;
  Rewriter rewriter_;
  std::vector<ValueId> blocked_of_;  // by original value
  std::vector<bool> plain_;          // the original value itself exists
  int changes_ = 0;
};

Result<int> run(Graph& graph, PassContext&) { return Placer(graph).run(); }

}  // namespace

extern const Pass pass_place_layouts;
const Pass pass_place_layouts = {
    "place_layouts", "Conv(x) -> Reorder, Conv on nchw16c, Reorder where others read it", run,
    1e-6};

}  // namespace hasten
