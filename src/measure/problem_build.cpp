// A problem as a model of one operator (declared in problem.h).
#include <algorithm>
#include <cmath>
#include <random>

#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "engine/ops/infer_graph.h"
#include "engine/ops/layout_rules.h"
#include "engine/ops/numbers.h"
#include "measure/inputs.h"
#include "measure/problem.h"

namespace hasten {
namespace {

std::string name_of(size_t operand) { return fmt::format("x{}", operand); }

std::string type_of(DType dtype, const Dims& dims) {
  return fmt::format("{}{}", dtype_name(dtype), dims_text(dims));
}

Result<Tensor> random_elements(DType dtype, const Dims& dims, double low, double high,
                               std::mt19937_64& random) {
  HASTEN_TRY(Tensor tensor, Tensor::make(dtype, dims));
  dispatch_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, std::string>) {
      T* out = tensor.mutable_as<T>();
      for (int64_t i = 0; i < tensor.count(); ++i) {
        const double x = low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
        if constexpr (std::is_same_v<T, bool>) {
          out[i] = x >= 1;
        } else {
          using C = typename Compute<T>::type;
          out[i] = Compute<T>::store(static_cast<C>(is_float(dtype) ? x : std::floor(x)));
        }
      }
    }
  });
  return tensor;
}

/// What elements of an operand lie in: [low, high).
struct Range {
  double low = 0, high = 100;
};
Range range_of(DType dtype) {
  if (is_float(dtype)) return {-1, 1};
  if (dtype == DType::kI8) return {-128, 128};
  if (dtype == DType::kU8) return {0, 256};
  if (dtype == DType::kBool) return {0, 2};
  return {};
}

Result<Tensor> weight(const Operand& operand, std::mt19937_64& random) {
  Range range = range_of(operand.dtype);
  if (is_float(operand.dtype)) {
    // Variances and scales of normalizations must be above 0, and biases may be.
    if (operand.dims.size() < 2) {
      range = {0.25, 1};
    } else {
      const double longest =
          static_cast<double>(*std::max_element(operand.dims.begin(), operand.dims.end()));
      const double sum = std::max(1.0, static_cast<double>(count_of(operand.dims)) / longest);
      range = {-1 / std::sqrt(sum), 1 / std::sqrt(sum)};
    }
  }
  return random_elements(operand.dtype, operand.dims, range.low, range.high, random);
}

Result<Tensor> constant(const Operand& operand) {
  Dims dims;
  if (operand.kind == Operand::kList) dims.push_back(static_cast<int64_t>(operand.values.size()));
  HASTEN_TRY(Tensor tensor, Tensor::make(operand.dtype, std::move(dims)));
  dispatch_number(operand.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = typename Compute<T>::type;
    for (size_t i = 0; i < operand.values.size(); ++i)
      tensor.mutable_as<T>()[i] = Compute<T>::store(static_cast<C>(operand.values[i]));
  });
  return tensor;
}

/// What follows, as lines of graph text that end in the value `last`.
struct Tail {
  std::string constants, inputs, nodes, last = "y0";
};

Result<Tail> tail(const Problem& problem, const std::string& type) {
  Tail t;
  int made = 0;
  const auto add = [&](const std::string& call) {
    const std::string to = fmt::format("t{}", made++);
    t.nodes += fmt::format("%{} = {}\n", to, call);
    t.last = to;
  };
  for (const std::string& op : problem.then) {
    if (op == "Add") {
      const std::string other = fmt::format("r{}", made);
      t.inputs += fmt::format("in %{}: {}\n", other, type);
      add(fmt::format("Add(%{}, %{})", t.last, other));
    } else if (op == "Relu6") {
      t.constants = "const %least: f32[] = {0}\nconst %most: f32[] = {6}\n";
      add(fmt::format("Clip(%{}, %least, %most)", t.last));
    } else if (op == "Silu") {
      const std::string x = t.last;
      add(fmt::format("Sigmoid(%{})", x));
      add(fmt::format("Mul(%{}, %{})", x, t.last));
    } else if (const OpDef* def = find_op("", op, kLastOpset);
               def != nullptr && def->min_inputs == 1) {
      add(fmt::format("{}(%{})", op, t.last));
    } else {
      return fail(Code::kInvalidArgument,
                  "{}: then={} is not known; want Add, Relu6, Silu or an operator of one input",
                  problem.place(), op);
    }
  }
  return t;
}

/// bind_graph leaves a node unbound whose operator isn't known, or one of its attributes: says
/// which.
Status check_bound(const Problem& problem, const Node& node) {
  if (node.def != nullptr) return {};
  const OpDef* def = find_op(node.domain, node.op, node.version);
  if (def == nullptr) {
    return fail(
        Code::kUnsupported,
        "{}: operator {} of opset {} is not supported; docs/support.md lists those that are",
        problem.place(), problem.op, node.version);
  }
  for (const auto& [name, value] : node.attrs) {
    if (std::any_of(def->attrs.begin(), def->attrs.end(),
                    [&](const char* known) { return name == known; })) {
      continue;
    }
    return fail(Code::kInvalidArgument, "{}: {} has no attribute '{}'; it has {}", problem.place(),
                problem.op, name,
                def->attrs.empty() ? "none" : fmt::format("{}", fmt::join(def->attrs, ", ")));
  }
  return {};
}

Result<Graph> graph_of(const Problem& problem, const Tail& t) {
  std::string text = fmt::format(
      "graph \"{}\" opset {{\"\": {}, \"hasten\": 1, "
      "\"com.microsoft\": 1}}\n",
      problem.op, kLastOpset);
  std::vector<std::string> arguments, outputs;
  text += t.constants;
  for (size_t i = 0; i < problem.operands.size(); ++i) {
    const Operand& operand = problem.operands[i];
    arguments.push_back(operand.kind == Operand::kAbsent ? "_" : "%" + name_of(i));
    if (operand.kind == Operand::kAbsent) continue;
    text += fmt::format("in %{}: {}\n", name_of(i), type_of(operand.dtype, operand.dims));
  }
  text += t.inputs;
  for (int64_t i = 0; i < problem.outputs; ++i) outputs.push_back(fmt::format("%y{}", i));
  text +=
      fmt::format("{} = {}({})", fmt::join(outputs, ", "), problem.op, fmt::join(arguments, ", "));
  if (!problem.attributes.empty()) text += fmt::format(" {{{}}}", problem.attributes);
  text += fmt::format(" \"problem\"\n{}out ", t.nodes);
  outputs[0] = "%" + t.last;
  text += fmt::format("{}\n", fmt::join(outputs, ", "));
  HASTEN_TRY(Graph graph, parse_graph(text));
  HASTEN_CHECK(bind_graph(graph));
  HASTEN_CHECK(check_bound(problem, graph.main.nodes[0]));
  return graph;
}

/// Makes the operands that are constants so.
Status set_constants(const Problem& problem, Graph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < problem.operands.size(); ++i) {
    const Operand& operand = problem.operands[i];
    if (operand.kind == Operand::kAbsent || operand.kind == Operand::kInput) continue;
    std::vector<ValueId>& inputs = graph.main.inputs;
    const auto at = std::find_if(inputs.begin(), inputs.end(),
                                 [&](ValueId id) { return graph.value(id).name == name_of(i); });
    Value& value = graph.value(*at);
    if (operand.kind == Operand::kWeight) {
      HASTEN_TRY(value.constant, weight(operand, random));
    } else {
      HASTEN_TRY(value.constant, constant(operand));
    }
    value.shape = to_shape(value.constant.dims());
    inputs.erase(at);
  }
  return {};
}

/// Puts a value in the other layout beside it, and a reorder that makes one of the other: which,
/// `to_blocked` says. Returns the blocked one.
ValueId add_reorder(Graph& graph, ValueId plain, bool to_blocked, size_t at) {
  Value blocked = graph.value(plain);
  blocked.name += ".nchw16c";
  blocked.layout = Layout::kNchw16c;
  const ValueId id = graph.add_value(std::move(blocked));
  Node node = to_blocked ? reorder_node(graph, plain, id, Layout::kNchw16c)
                         : reorder_node(graph, id, plain, Layout::kPlain);
  graph.main.nodes.insert(graph.main.nodes.begin() + static_cast<ptrdiff_t>(at), std::move(node));
  return id;
}

/// Which operands of the node come blocked, and whether its output leaves so.
Result<BlockedRule> layout_of(const Problem& problem, const Graph& graph, const Node& node) {
  if (problem.op == "hasten::Reorder") {
    BlockedRule rule;
    rule.output_blocked = node.attr_string("to", "") == "nchw16c";
    rule.inputs = {rule.output_blocked ? InputLayout::kPlain : InputLayout::kBlocked};
    return rule;
  }
  const auto rule = blocked_rule(graph, node);
  if (rule && problem.then.empty()) return *rule;
  return fail(
      Code::kInvalidArgument,
      "{}: layout=nchw16c: {}; leave the layout out (convolutions find theirs by themselves)",
      problem.place(), rule ? "nothing may follow (then=)" : "this doesn't run on blocked images");
}

Status set_layout(const Problem& problem, Graph& graph) {
  HASTEN_TRY(const BlockedRule rule, layout_of(problem, graph, graph.main.nodes[0]));
  size_t at = 0;  // of the node
  for (size_t i = 0; i < rule.inputs.size(); ++i) {
    if (rule.inputs[i] != InputLayout::kBlocked) continue;
    const ValueId id = add_reorder(graph, graph.main.nodes[at].inputs[i], true, at);
    graph.main.nodes[++at].inputs[i] = id;
  }
  if (!rule.output_blocked) return {};
  const ValueId id = add_reorder(graph, graph.main.nodes[at].outputs[0], false, at + 1);
  graph.main.nodes[at].outputs[0] = id;
  return {};
}

Result<BuiltProblem> build(const Problem& problem, bool plain, uint64_t seed) {
  BuiltProblem built;
  HASTEN_TRY(built.graph, graph_of(problem, {}));
  HASTEN_CHECK(set_constants(problem, built.graph, seed));
  HASTEN_CHECK(infer_graph(built.graph, nullptr));
  if (!problem.then.empty()) {
    const Value& y = built.graph.value(built.graph.main.nodes[0].outputs[0]);
    HASTEN_TRY(const Tail t,
               tail(problem, fmt::format("{}{}", dtype_name(y.dtype), shape_text(y.shape))));
    HASTEN_TRY(built.graph, graph_of(problem, t));
    HASTEN_CHECK(set_constants(problem, built.graph, seed));
    HASTEN_CHECK(infer_graph(built.graph, nullptr));
  }
  std::mt19937_64 random(seed + 1);
  for (const ValueId id : built.graph.main.inputs) {
    const Value& value = built.graph.value(id);
    Range range = range_of(value.dtype);
    if (const int64_t limit = index_limit(built.graph, id); limit > 0)
      range = {0, static_cast<double>(limit)};
    HASTEN_TRY(built.inputs.emplace_back(),
               random_elements(value.dtype, to_dims(value.shape), range.low, range.high, random));
  }
  if (!plain && (problem.blocked || problem.op == "hasten::Reorder"))
    HASTEN_CHECK(set_layout(problem, built.graph));
  return built;
}

}  // namespace

Result<BuiltProblem> build_problem(const Problem& problem, bool plain, uint64_t seed) {
  auto built = build(problem, plain, seed);
  if (built || built.error().message.starts_with(problem.place())) return built;
  return fail(built.error().code, "{}: {}", problem.place(), built.error().message);
}

}  // namespace hasten
