// Transposes go down past nodes that work the same on any order of axes, and meet there: what an
// exporter put around each convolution, say, to compute in [N,H,W,C] between them.
//
//   %t = Transpose(%x); %y = Relu(%t)        ->   %r = Relu(%x); %y = Transpose(%r)
//   %y = Add(%t, %u), u transposed alike, or a constant; Concat, Pad, ReduceMean … likewise
//   %y = Transpose(%t)                       ->   %y = Transpose(%x), or %x itself
//
// One walk in order: a value that is a transpose of another is made only where somebody needs it
// as it is. Same bits, as only elements move; the means of a reduction are summed in the order of
// the axes before: within 1e-6 of their scale. Nothing is changed unless fewer elements move then.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "engine/passes/pass.h"
#include "engine/passes/rewrite.h"

namespace hasten {

namespace {

using Perm = std::vector<int64_t>;  // axis i of the result is axis perm[i] of the source

bool is_still(const Perm& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}
Perm inverse(const Perm& perm) {
  Perm back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return back;
}
/// The shape of the source of a transpose whose result has that shape.
Shape source_shape(const Shape& result, const Perm& perm) {
  Shape shape(result.size());
  for (size_t i = 0; i < perm.size(); ++i) shape[static_cast<size_t>(perm[i])] = result[i];
  return shape;
}

/// Element by element, broadcasting.
bool is_broadcast(const std::string& op) {
  static const std::set<std::string> kOps = {
      "Add",   "Sub",        "Mul",   "Div", "Pow", "Max", "Min",   "Sum",     "Mean",
      "PRelu", "Mod",        "Where", "And", "Or",  "Xor", "Equal", "Greater", "GreaterOrEqual",
      "Less",  "LessOrEqual"};
  return kOps.count(op) > 0;
}
bool is_unary(const Node& node) {
  return node.def->unary || node.op == "Cast" || node.op == "Not" || node.op == "IsNaN" ||
         node.op == "IsInf";
}
/// %to = op(%from), a node of ai.onnx.
Node move_node(const char* op, ValueId from, ValueId to) {
  Node node;
  node.op = op;
  node.version = 13;
  node.def = find_op("", node.op, node.version);
  node.inputs = {from};
  node.outputs = {to};
  return node;
}
bool is_reduction(const std::string& op) { return op.rfind("Reduce", 0) == 0; }

/// Elements that the transposes of a block move, open dims counting as 1.
double moved(const Graph& graph, const Block& block) {
  double sum = 0;
  for (const Node& node : block.nodes) {
    if (node.op != "Transpose" || node.outputs.empty() || node.outputs[0] == kNoValue) continue;
    double n = 1;
    for (const Dim d : graph.value(node.outputs[0]).shape) {
      if (d.known()) n *= static_cast<double>(d.value());
    }
    sum += n;
  }
  return sum;
}

class Sinker {
 public:
  Sinker(Graph& graph, Block& block, const PassContext& context)
      : graph_(graph), block_(block), context_(context) {}

  Result<Block> run() {
    Block to;
    to.inputs = block_.inputs;
    to.outputs = block_.outputs;
    out_ = &to.nodes;
    for (const Node& node : block_.nodes) {
      if (note_transpose(node)) continue;
      HASTEN_TRY(const bool sunk, sink(node));
      if (sunk) continue;
      Node copy = node;
      if (node.blocks.empty()) {
        for (ValueId& id : copy.inputs) id = plain(id);
      } else {
        for_each_use(node, [&](ValueId id) { make(id); });
      }
      to.nodes.push_back(std::move(copy));
    }
    for (const ValueId id : block_.outputs) make(id);
    return to;
  }

 private:
  struct Pending {
    ValueId source;
    Perm perm;
    bool made = false;
  };

  const Pending* pending(ValueId id) const {
    const auto it = pending_.find(id);
    return it == pending_.end() ? nullptr : &it->second;
  }

  bool note_transpose(const Node& node) {
    if (node.op != "Transpose" || !node.domain.empty() || !node.has_input(0)) return false;
    const Value& x = graph_.value(node.inputs[0]);
    if (!x.has_shape || x.is_constant() || node.outputs[0] == kNoValue) return false;
    Perm perm = node.attr_ints("perm");
    if (perm.empty()) {
      perm.resize(x.shape.size());
      std::iota(perm.rbegin(), perm.rend(), int64_t{0});
    }
    ValueId source = node.inputs[0];
    if (const Pending* p = pending(source)) {
      for (int64_t& axis : perm) axis = p->perm[static_cast<size_t>(axis)];
      source = p->source;
    }
    pending_[node.outputs[0]] = {source, std::move(perm)};
    names_[node.outputs[0]] = node.name;
    return true;
  }

  /// The value itself, made where it is a transpose; one that moves nothing is its source.
  ValueId plain(ValueId id) {
    const Pending* p = id == kNoValue ? nullptr : pending(id);
    if (p == nullptr) return id;
    if (is_still(p->perm)) return p->source;
    make(id);
    return id;
  }

  /// Makes the very value, for those who can't be told another.
  void make(ValueId id) {
    const auto it = pending_.find(id);
    if (it == pending_.end() || it->second.made) return;
    it->second.made = true;
    const bool still = is_still(it->second.perm);
    Node node = move_node(still ? "Identity" : "Transpose", it->second.source, id);
    node.name = names_[id];
    if (!still) node.attrs.emplace_back("perm", it->second.perm);
    out_->push_back(std::move(node));
  }

  /// The perm that all transposed inputs of a node have in common, and the output too can have.
  std::optional<Perm> common_perm(const Node& node, size_t inputs) const {
    std::optional<Perm> perm;
    for (size_t i = 0; i < inputs; ++i) {
      const Pending* p = node.has_input(i) ? pending(node.inputs[i]) : nullptr;
      if (p == nullptr || is_still(p->perm)) continue;
      if (perm && *perm != p->perm) return std::nullopt;
      perm = p->perm;
    }
    return perm;
  }

  bool has_rank(ValueId id, size_t rank) const {
    const Value& v = graph_.value(id);
    return v.has_shape && v.shape.size() == rank;
  }

  Result<bool> sink(const Node& node) {
    if (!node.blocks.empty() || node.def == nullptr || node.outputs.size() != 1 ||
        node.outputs[0] == kNoValue || !node.domain.empty()) {
      return false;
    }
    const bool concat = node.op == "Concat";
    const bool broadcast = is_broadcast(node.op);
    const auto perm = common_perm(node, broadcast || concat ? node.inputs.size() : 1);
    if (!perm) return false;
    if (broadcast) return sink_broadcast(node, *perm);
    if (is_unary(node)) return sink_as(node, *perm, source(node, 0));
    if (concat) return sink_concat(node, *perm);
    if (node.op == "Pad") return sink_pad(node, *perm);
    if (is_reduction(node.op)) return sink_reduction(node, *perm);
    return false;
  }

  Node source(const Node& node, size_t input) const {
    Node copy = node;
    copy.inputs[input] = pending(node.inputs[input])->source;
    return copy;
  }

  /// Puts `node`, which works on sources, in place of `old`: a transpose of it is old's output.
  bool sink_as(const Node& old, const Perm& out, Node node) {
    const ValueId id = old.outputs[0];
    if (!has_rank(id, out.size())) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == old.input(i)) node.inputs[i] = plain(node.inputs[i]);
    }
    Value value;
    value.name = graph_.value(id).name + ".source";
    value.dtype = graph_.value(id).dtype;
    value.has_shape = true;
    value.shape = source_shape(graph_.value(id).shape, out);
    node.outputs[0] = graph_.add_value(std::move(value));
    pending_[id] = {node.outputs[0], out};
    names_[id] = old.name;
    out_->push_back(std::move(node));
    return true;
  }

  Result<bool> sink_broadcast(const Node& node, const Perm& perm) {
    if (!has_rank(node.outputs[0], perm.size())) return false;
    Node copy = node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue) return false;
      const Pending* p = pending(id);
      if (p != nullptr && !is_still(p->perm)) {
        copy.inputs[i] = p->source;
        continue;
      }
      const Value& v = graph_.value(id);
      const bool one = v.has_shape && std::all_of(v.shape.begin(), v.shape.end(),
                                                  [](Dim d) { return d == Dim(1); });
      if (one && v.shape.size() <= perm.size()) continue;
      if (!v.is_constant() || v.shape.size() > perm.size() || v.layout != Layout::kPlain)
        return false;
      HASTEN_TRY(copy.inputs[i], turned(id, perm));
    }
    return sink_as(node, perm, std::move(copy));
  }

  /// The constant that broadcasts against sources as this one does against their transposes.
  Result<ValueId> turned(ValueId id, const Perm& perm) {
    const auto key = std::pair(id, perm);
    if (const auto it = turned_.find(key); it != turned_.end()) return it->second;
    const Tensor& t = graph_.value(id).constant;
    Dims dims(perm.size() - t.dims().size(), 1);
    dims.insert(dims.end(), t.dims().begin(), t.dims().end());
    Node node = move_node("Transpose", 0, 1);
    node.attrs.emplace_back("perm", inverse(perm));
    const Tensor reshaped = t.reshaped(std::move(dims));
    HASTEN_TRY(std::vector<Tensor> made, context_.evaluate(node, {&reshaped, 1}));
    const ValueId to = graph_.add_constant(graph_.value(id).name + ".turned", std::move(made[0]));
    turned_[key] = to;
    return to;
  }

  Result<bool> sink_concat(const Node& node, const Perm& perm) {
    Node copy = node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Pending* p = node.has_input(i) ? pending(node.inputs[i]) : nullptr;
      if (p == nullptr || p->perm != perm) return false;
      copy.inputs[i] = p->source;
    }
    const int64_t axis = node.attr_int("axis", 0), rank = static_cast<int64_t>(perm.size());
    copy.set_attr("axis", perm[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
    return sink_as(node, perm, std::move(copy));
  }

  Result<bool> sink_pad(const Node& node, const Perm& perm) {
    const size_t rank = perm.size();
    const bool as_input = node.version >= 11;
    const Tensor* constant =
        as_input && node.has_input(1) ? &graph_.value(node.inputs[1]).constant : nullptr;
    if (node.has_input(3) || (as_input && (constant == nullptr || constant->empty()))) return false;
    std::vector<int64_t> pads = node.attr_ints("pads");
    if (as_input) pads.assign(constant->as<int64_t>(), constant->as<int64_t>() + constant->count());
    if (pads.size() != 2 * rank) return false;
    std::vector<int64_t> turned_pads(pads.size());
    for (size_t i = 0; i < rank; ++i) {
      const auto axis = static_cast<size_t>(perm[i]);
      turned_pads[axis] = pads[i];
      turned_pads[axis + rank] = pads[i + rank];
    }
    Node copy = source(node, 0);
    if (as_input) {
      copy.inputs[1] = graph_.add_constant(
          graph_.value(node.inputs[1]).name + ".turned",
          Tensor::ints({static_cast<int64_t>(turned_pads.size())}, turned_pads));
    } else {
      copy.set_attr("pads", turned_pads);
    }
    return sink_as(node, perm, std::move(copy));
  }

  Result<bool> sink_reduction(const Node& node, const Perm& perm) {
    const auto rank = static_cast<int64_t>(perm.size());
    const Tensor* constant = node.has_input(1) ? &graph_.value(node.inputs[1]).constant : nullptr;
    if (constant != nullptr && constant->empty()) return false;
    std::vector<int64_t> axes = node.attr_ints("axes");
    if (constant != nullptr)
      axes.assign(constant->as<int64_t>(), constant->as<int64_t>() + constant->count());
    if (axes.empty()) return false;
    std::vector<bool> folded(perm.size(), false);
    for (int64_t& axis : axes) {
      if (axis < -rank || axis >= rank) return false;
      axis = perm[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
      folded[static_cast<size_t>(axis)] = true;
    }
    std::sort(axes.begin(), axes.end());
    Perm out = perm;
    if (node.attr_int("keepdims", 1) == 0) {
      // What stays, in the order of the transpose, among what stays of the source.
      Perm place(perm.size(), 0);
      int64_t at = 0;
      for (size_t i = 0; i < perm.size(); ++i) place[i] = folded[i] ? 0 : at++;
      out.clear();
      for (const int64_t axis : perm) {
        if (!folded[static_cast<size_t>(axis)]) out.push_back(place[static_cast<size_t>(axis)]);
      }
    }
    Node copy = source(node, 0);
    if (constant != nullptr) {
      copy.inputs[1] = graph_.add_constant(graph_.value(node.inputs[1]).name + ".turned",
                                           Tensor::ints({static_cast<int64_t>(axes.size())}, axes));
    } else {
      copy.set_attr("axes", axes);
    }
    return sink_as(node, out, std::move(copy));
  }

  Graph& graph_;
  const Block& block_;
  const PassContext& context_;
  std::vector<Node>* out_ = nullptr;
  std::map<ValueId, Pending> pending_;
  std::map<ValueId, std::string> names_;
  std::map<std::pair<ValueId, Perm>, ValueId> turned_;
};

Result<int> run(Graph& graph, PassContext& context) {
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    const double before = moved(graph, block);
    if (before == 0) return 0;
    const size_t values = graph.values.size();
    HASTEN_TRY(Block sunk, Sinker(graph, block, context).run());
    const double after = moved(graph, sunk);
    if (after >= before) {
      graph.values.resize(values);
      return 0;
    }
    const auto count = [](const Block& b) {
      return std::count_if(b.nodes.begin(), b.nodes.end(),
                           [](const Node& n) { return n.op == "Transpose"; });
    };
    const auto changes = static_cast<int>(count(block) - count(sunk));
    block = std::move(sunk);
    return std::max(1, changes);
  });
}

}  // namespace

extern const Pass pass_sink_transposes;
const Pass pass_sink_transposes = {
    "sink_transposes", "Transposes past what works on any order of axes, until they meet", run,
    1e-6};

}  // namespace hasten
