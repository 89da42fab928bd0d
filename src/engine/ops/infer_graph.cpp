#include "engine/ops/infer_graph.h"

#include <algorithm>

#include "engine/ops/follow_values.h"

namespace hasten {

Status infer_node(const Node& node, std::span<const Facts* const> in, std::span<Facts> out,
                  const Evaluator& evaluate) {
  if (node.def == nullptr) {
    return fail(Code::kUnsupported, "{}: operator {}{}{} of opset {} is not supported",
                node.label(), node.domain, node.domain.empty() ? "" : "::", node.op, node.version);
  }
  InferContext context(node, in, out);
  HASTEN_CHECK(node.def->infer(context));
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].known_shape()) continue;
    if (auto count = checked_count(to_dims(out[i].shape)); !count) {
      return fail(count.error().code, "{}: output {}: {}", node.label(), i, count.error().message);
    }
  }
  return follow_values(node, in, out, evaluate);
}

namespace {

class Inference {
 public:
  Inference(Graph& graph, const Evaluator& evaluate)
      : graph_(graph), evaluate_(evaluate), facts_(graph.values.size()) {}

  Status run() {
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const Value& v = graph_.values[i];
      if (!v.is_constant()) continue;
      facts_[i] = {v.constant.dtype(), true,       to_shape(v.constant.dims()),
                   v.layout,           v.constant, true};
    }
    for (ValueId id : graph_.main.inputs) facts(id) = declared(id);
    return block(graph_.main);
  }

  std::vector<Facts> take() { return std::move(facts_); }

 private:
  Facts& facts(ValueId id) { return facts_[static_cast<size_t>(id)]; }

  Facts declared(ValueId id) const {
    const Value& v = graph_.value(id);
    return {v.dtype, v.has_shape, v.shape, v.layout, v.constant, v.is_constant()};
  }

  Status block(const Block& block) {
    for (const Node& node : block.nodes) HASTEN_CHECK(visit(node));
    return {};
  }

  Status visit(const Node& node) {
    std::vector<Facts> out(node.outputs.size());
    if (node.def == nullptr || !known_types(node)) {
      for (size_t i = 0; i < out.size(); ++i) {
        if (node.outputs[i] != kNoValue) out[i] = declared(node.outputs[i]);
      }
    } else if (node.op == "If" && node.domain.empty()) {
      HASTEN_CHECK(branches(node, out));
    } else {
      std::vector<const Facts*> in;
      in.reserve(node.inputs.size());
      for (ValueId id : node.inputs) in.push_back(id == kNoValue ? nullptr : &facts(id));
      HASTEN_CHECK(infer_node(node, in, out, evaluate_));
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] != kNoValue)
        HASTEN_CHECK(store(node, node.outputs[i], std::move(out[i])));
    }
    return {};
  }

  /// False where an operator that we don't know made an input.
  bool known_types(const Node& node) {
    for (ValueId id : node.inputs) {
      if (id != kNoValue && facts(id).dtype == DType::kNone) return false;
    }
    return true;
  }

  /// Inferred shapes win over declared ones, which are often wrong; a wrong dtype is no slip.
  Status store(const Node& node, ValueId id, Facts f) {
    Value& v = graph_.value(id);
    if (v.dtype != DType::kNone && f.dtype != DType::kNone && v.dtype != f.dtype) {
      return fail(Code::kInvalidModel, "{}: its output '{}' is {}, but the model declares it as {}",
                  node.label(), v.name, dtype_name(f.dtype), dtype_name(v.dtype));
    }
    if (f.dtype == DType::kNone) f.dtype = v.dtype;
    f.layout = v.layout;
    v.dtype = f.dtype;
    v.has_shape = f.has_shape;
    v.shape = f.shape;
    facts(id) = std::move(f);
    return {};
  }

  Status branches(const Node& node, std::vector<Facts>& out) {
    const Facts& condition = facts(node.inputs[0]);
    const Facts* in[] = {&condition};
    InferContext checks(node, in, out);
    HASTEN_CHECK(node.def->infer(checks));
    const Block &then_block = branch(node, "then_branch"),
                &else_block = branch(node, "else_branch");
    if (condition.known_value()) {
      const Block& taken = *condition.value.as<bool>() ? then_block : else_block;
      HASTEN_CHECK(block(taken));
      for (size_t i = 0; i < out.size(); ++i) out[i] = facts(taken.outputs[i]);
      return {};
    }
    HASTEN_CHECK(block(then_block));
    HASTEN_CHECK(block(else_block));
    for (size_t i = 0; i < out.size(); ++i) {
      HASTEN_TRY(out[i], join(node, i, facts(then_block.outputs[i]), facts(else_block.outputs[i])));
    }
    return {};
  }

  /// The operator's infer() has seen that it is there.
  static const Block& branch(const Node& node, std::string_view key) {
    return std::find_if(node.blocks.begin(), node.blocks.end(),
                        [&](const auto& block) { return block.name == key; })
        ->block;
  }

  static Result<Facts> join(const Node& node, size_t i, const Facts& a, const Facts& b) {
    if (a.dtype != b.dtype && a.dtype != DType::kNone && b.dtype != DType::kNone) {
      return fail(Code::kInvalidModel, "{}: output {} is {} of then_branch and {} of else_branch",
                  node.label(), i, dtype_name(a.dtype), dtype_name(b.dtype));
    }
    Facts out;
    out.dtype = a.dtype != DType::kNone ? a.dtype : b.dtype;
    out.has_shape = a.has_shape && b.has_shape && a.rank() == b.rank();
    for (size_t d = 0; out.has_shape && d < a.rank(); ++d) {
      out.shape.push_back(a.shape[d] == b.shape[d] ? a.shape[d] : Dim::fresh());
    }
    return out;
  }

  Graph& graph_;
  const Evaluator& evaluate_;
  std::vector<Facts> facts_;
};

}  // namespace

Status infer_graph(Graph& graph, const Evaluator& evaluate, std::vector<Facts>* facts) {
  Inference inference(graph, evaluate);
  HASTEN_CHECK(inference.run());
  if (facts != nullptr) *facts = inference.take();
  return {};
}

}  // namespace hasten
