#include "engine/ops/infer_graph.h"

#include <algorithm>

#include "engine/ops/bind.h"
#include "engine/ops/follow_values.h"

namespace hasten {

Status infer_node(const Node& node, std::span<const Facts* const> in, std::span<Facts> out,
                  const Evaluator& evaluate) {
  HASTEN_CHECK(check_bound(node));
  for (size_t i = 0; i < in.size() && !node.def->takes_sequences; ++i) {
    if (in[i] != nullptr && holds_objects(in[i]->dtype) && in[i]->dtype != DType::kString) {
      return fail(Code::kInvalidModel, "{}: input {} is {}, the operator takes tensors",
                  node.label(), i, in[i]->text());
    }
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
  Inference(Graph& graph, const Evaluator& evaluate, std::vector<RefusedNode>* refused)
      : graph_(graph), evaluate_(evaluate), refused_(refused), facts_(graph.values.size()) {}

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
    return {v.dtype, v.has_shape, v.shape, v.layout, v.constant, v.is_constant(), v.element};
  }

  Status block(const Block& block) {
    for (const Node& node : block.nodes) HASTEN_CHECK(visit(node));
    return {};
  }

  Status visit(const Node& node) {
    std::vector<Facts> out(node.outputs.size());
    bool known = node.def != nullptr && known_types(node);
    if (known) {
      if (Status done = infer(node, out); !done) {
        if (refused_ == nullptr || done.error().code != Code::kUnsupported) return done;
        refused_->push_back({&node, std::move(done.error().message)});
        known = false;
      }
    }
    for (size_t i = 0; i < out.size() && !known; ++i) {
      if (node.outputs[i] != kNoValue) out[i] = declared(node.outputs[i]);
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] != kNoValue)
        HASTEN_CHECK(store(node, node.outputs[i], std::move(out[i])));
    }
    return {};
  }

  Status infer(const Node& node, std::vector<Facts>& out) {
    if (node.op == "If" && node.domain.empty()) return branches(node, out);
    if (!node.blocks.empty()) return loop(node, out);
    std::vector<const Facts*> in;
    in.reserve(node.inputs.size());
    for (ValueId id : node.inputs) in.push_back(id == kNoValue ? nullptr : &facts(id));
    return infer_node(node, in, out, evaluate_);
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
    if (f.element == DType::kNone) f.element = v.element;
    f.layout = v.layout;
    v.dtype = f.dtype;
    v.element = f.element;
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

  /// What one iteration is given: only what holds for all of them.
  static Facts any_of(Facts f) {
    f.value = {};
    f.constant = false;
    return f;
  }

  /// Drops leading dims, or the one at `axis`.
  static Facts without(Facts f, size_t leading, int64_t axis) {
    f = any_of(std::move(f));
    if (!f.has_shape) return f;
    if (axis < 0) axis += static_cast<int64_t>(f.rank());
    if (f.rank() < leading || axis < 0 || axis >= static_cast<int64_t>(f.rank())) {
      f.has_shape = false;  // the run says what is wrong
      f.shape.clear();
    } else if (leading > 0) {
      f.shape.erase(f.shape.begin(), f.shape.begin() + static_cast<long>(leading));
    } else {
      f.shape.erase(f.shape.begin() + axis);
    }
    return f;
  }

  /// Loop, Scan, SequenceMap: the body is visited until what it makes of its state fits what it was
  /// given, dims that change being unknown.
  Status loop(const Node& node, std::vector<Facts>& out) {
    std::vector<const Facts*> in;
    for (ValueId id : node.inputs) in.push_back(id == kNoValue ? nullptr : &facts(id));
    InferContext checks(node, in, out);
    HASTEN_CHECK(node.def->infer(checks));
    const Block& body = node.blocks[0].block;
    std::vector<Facts> given;  // to the body
    size_t first_state = 0, first_result = 0, states = 0;
    if (node.op == "Loop") {
      for (const DType dtype : {DType::kI64, DType::kBool}) {
        // Some exporters write them as tensors of one element.
        const Value& v = graph_.value(body.inputs[given.size()]);
        const bool vector = v.has_shape && v.shape.size() == 1;
        given.push_back({dtype,
                         true,
                         vector ? Shape{Dim(1)} : Shape{},
                         Layout::kPlain,
                         {},
                         false,
                         DType::kNone});
      }
      for (size_t i = 2; i < in.size(); ++i) given.push_back(any_of(*in[i]));
      first_state = 2;
      first_result = 1;
      states = given.size() - 2;
    } else if (node.op == "Scan") {
      const bool batch = node.version < 9;
      const auto scanned = static_cast<size_t>(node.attr_int("num_scan_inputs", 0));
      const auto axes = node.attr_ints("scan_input_axes", std::vector<int64_t>(scanned, 0));
      const size_t skip = batch ? 1 : 0;
      states = in.size() - skip - scanned;
      for (size_t i = 0; i < states + scanned; ++i) {
        const Facts& f = *in[skip + i];
        if (i < states) {
          given.push_back(batch ? without(f, 1, 0) : any_of(f));
        } else {
          given.push_back(batch ? without(f, 2, 0) : without(f, 0, axes[i - states]));
        }
      }
    } else {
      for (const Facts* f : in) {
        given.push_back(any_of(*f));
        if (f->dtype == DType::kSequence) {
          given.back() = {};
          given.back().dtype = f->element;
        }
      }
    }
    std::vector<std::vector<bool>> changes(states);
    for (bool again = true; again;) {
      for (size_t i = 0; i < given.size(); ++i) {
        HASTEN_CHECK(store(node, body.inputs[i], given[i]));
      }
      HASTEN_CHECK(block(body));
      again = false;
      for (size_t i = 0; i < states; ++i) {
        const Facts& made = facts(body.outputs[first_result + i]);
        HASTEN_TRY(const bool widened, widen(node, i, given[first_state + i], made, changes[i]));
        again = again || widened;
      }
    }
    results(node, body, given, first_state, first_result, states, out);
    return {};
  }

  /// Lets `given` stand for `made` too; false if it did.
  static Result<bool> widen(const Node& node, size_t i, Facts& given, const Facts& made,
                            std::vector<bool>& changes) {
    // What was optional may be there for sure from the first iteration on.
    if (given.dtype == DType::kOptional && made.dtype != DType::kOptional) return false;
    if (made.dtype != given.dtype && made.dtype != DType::kNone && given.dtype != DType::kNone) {
      return fail(Code::kInvalidModel, "{}: state {} is {} and becomes {}", node.label(), i,
                  dtype_name(given.dtype), dtype_name(made.dtype));
    }
    if (!given.has_shape) return false;
    if (!made.has_shape || made.rank() != given.rank()) {
      given.has_shape = false;
      given.shape.clear();
      return true;
    }
    changes.resize(given.rank());
    bool widened = false;
    for (size_t d = 0; d < given.rank(); ++d) {
      if (changes[d] || given.shape[d] == made.shape[d]) continue;
      given.shape[d] = Dim::fresh();
      changes[d] = widened = true;
    }
    return widened;
  }

  void results(const Node& node, const Block& body, const std::vector<Facts>& given,
               size_t first_state, size_t first_result, size_t states, std::vector<Facts>& out) {
    const bool batch = node.op == "Scan" && node.version < 9;
    for (size_t i = 0; i < out.size(); ++i) {
      Facts f = any_of(facts(body.outputs[first_result + i]));
      if (node.op == "SequenceMap") {
        out[i] = {};
        out[i].dtype = DType::kSequence;
        out[i].element = f.dtype;
        out[i].has_shape = true;
        out[i].shape = {Dim::fresh()};
        continue;
      }
      if (i < states) {
        const Facts made = std::move(f);
        f = given[first_state + i];
        if (f.dtype == DType::kNone || f.dtype == DType::kOptional) f = made;
        // A dim that changes inside has another value behind the loop.
        for (Dim& d : f.shape) d = d.known() || is_declared(d) ? d : Dim::fresh();
        if (batch && f.has_shape) f.shape.insert(f.shape.begin(), Dim::fresh());
      } else if (f.has_shape) {
        const auto axes = node.attr_ints("scan_output_axes", std::vector<int64_t>(out.size(), 0));
        int64_t axis = i - states < axes.size() ? axes[i - states] : 0;
        if (axis < 0) axis += static_cast<int64_t>(f.rank()) + 1;
        axis = std::clamp<int64_t>(axis, 0, static_cast<int64_t>(f.rank()));
        for (Dim& d : f.shape) d = d.known() || is_declared(d) ? d : Dim::fresh();
        f.shape.insert(f.shape.begin() + axis, Dim::fresh());
        if (batch) f.shape.insert(f.shape.begin(), Dim::fresh());
      }
      out[i] = std::move(f);
    }
  }

  /// A symbol with a name of the model's, not one made up on the way.
  static bool is_declared(Dim d) { return d.text().find('?') == std::string::npos; }

  static Result<Facts> join(const Node& node, size_t i, const Facts& a, const Facts& b) {
    if (a.dtype != b.dtype && a.dtype != DType::kNone && b.dtype != DType::kNone) {
      return fail(Code::kInvalidModel, "{}: output {} is {} of then_branch and {} of else_branch",
                  node.label(), i, dtype_name(a.dtype), dtype_name(b.dtype));
    }
    Facts out;
    out.dtype = a.dtype != DType::kNone ? a.dtype : b.dtype;
    if (a.element == b.element) out.element = a.element;
    out.has_shape = a.has_shape && b.has_shape && a.rank() == b.rank();
    for (size_t d = 0; out.has_shape && d < a.rank(); ++d) {
      out.shape.push_back(a.shape[d] == b.shape[d] ? a.shape[d] : Dim::fresh());
    }
    return out;
  }

  Graph& graph_;
  const Evaluator& evaluate_;
  std::vector<RefusedNode>* refused_;
  std::vector<Facts> facts_;
};

}  // namespace

Status infer_graph(Graph& graph, const Evaluator& evaluate, std::vector<Facts>* facts,
                   std::vector<RefusedNode>* refused) {
  Inference inference(graph, evaluate, refused);
  HASTEN_CHECK(inference.run());
  if (facts != nullptr) *facts = inference.take();
  return {};
}

}  // namespace hasten
