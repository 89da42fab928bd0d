#include "engine/passes/patterns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/numbers.h"

namespace hasten {

bool is_conv(const Node& node) {
  return (node.op == "Conv" || node.op == "ConvTranspose") &&
         (node.domain.empty() || node.domain == "hasten");
}

int64_t gemm_columns(const Rewriter& rewriter, const Node& node) {
  const Value& b = rewriter.value(node.inputs[1]);
  if (!b.has_shape || b.shape.size() != 2) return kNoChannels;
  const Dim n = b.shape[node.attr_int("transB", 0) != 0 ? 0 : 1];
  return n.known() ? n.value() : kNoChannels;
}

bool is_gemm(const Rewriter& rewriter, const Node& node) {
  if (node.op != "Gemm" && (node.op != "MatMul" || !node.domain.empty())) return false;
  if (node.domain == "hasten") return true;
  if (!node.domain.empty() || node.inputs.size() < 2 || node.outputs.empty()) return false;
  const Value &a = rewriter.value(node.inputs[0]), &b = rewriter.value(node.inputs[1]);
  if (a.dtype != DType::kF32 || b.dtype != DType::kF32) return false;
  const int64_t columns = gemm_columns(rewriter, node);
  if (columns == kNoChannels) return false;
  if (!node.has_input(2)) return true;
  const Value& c = rewriter.value(node.inputs[2]);
  if (c.is_constant() && c.dtype == DType::kF32) {
    return per_channel(c.constant, 2, 1, columns).has_value();
  }
  return c.has_shape && c.shape == Shape{Dim(columns)};
}

Result<Node> gemm_form(Rewriter& rewriter, const Node& node) {
  if (node.domain == "hasten") return node;
  Node form = node;
  form.op = "Gemm";
  form = fused_form(form);
  const Tensor* c = rewriter.constant(node.input(2));
  const int64_t columns = gemm_columns(rewriter, node);
  if (c != nullptr && c->dims() != Dims{columns}) {
    const auto row = per_channel(*c, 2, 1, columns);
    form.inputs[2] = rewriter.new_constant(rewriter.value(node.inputs[2]).name + ".row",
                                           Tensor::floats({columns}, *row));
  }
  return form;
}

bool has_free_activation(const Node& node) {
  return node.attr_string("activation", "none") == "none";
}

namespace {

/// A bound of Clip: the constant, the default where it is absent, nothing where it isn't known.
std::optional<float> clip_bound(const Rewriter& rewriter, const Node& node, size_t input,
                                const char* attr, float otherwise) {
  if (node.version < 11) return node.attr_float(attr, otherwise);
  if (!node.has_input(input)) return otherwise;
  float value = 0;
  if (!rewriter.scalar(node.inputs[input], &value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ActivationPattern> match_activation(const Rewriter& rewriter, const Node& node) {
  const std::string& op = node.op;
  if (node.domain == "hasten") {
    if (op == "Silu") return ActivationPattern{"silu", {}};
    return std::nullopt;
  }
  if (!node.domain.empty()) return std::nullopt;
  if (op == "Relu") return ActivationPattern{"relu", {}};
  if (op == "Sigmoid") return ActivationPattern{"sigmoid", {}};
  if (op == "Tanh") return ActivationPattern{"tanh", {}};
  if (op == "HardSwish") return ActivationPattern{"hard_swish", {}};
  if (op == "LeakyRelu") return ActivationPattern{"leaky_relu", {node.attr_float("alpha", 0.01f)}};
  if (op == "Gelu" && node.attr_string("approximate", "none") == "none") {
    return ActivationPattern{"gelu", {}};
  }
  if (op == "HardSigmoid") {
    return ActivationPattern{"hard_sigmoid",
                             {node.attr_float("alpha", 0.2f), node.attr_float("beta", 0.5f)}};
  }
  if (op == "Clip") {
    constexpr float kMax = std::numeric_limits<float>::max();
    const auto low = clip_bound(rewriter, node, 1, "min", -kMax);
    const auto high = clip_bound(rewriter, node, 2, "max", kMax);
    // Outside of 0 the padding channels of a blocked output would not stay zero.
    if (!low || !high || !(*low <= 0) || !(*high >= 0)) return std::nullopt;
    return ActivationPattern{"clip", {*low, *high}};
  }
  return std::nullopt;
}

Node fused_form(const Node& node) {
  Node fused = node;
  fused.domain = "hasten";
  fused.version = 1;
  fused.def = find_op(fused.domain, fused.op, fused.version);
  return fused;
}

bool same_shape(const Graph& graph, ValueId a, ValueId b) {
  const Value &x = graph.value(a), &y = graph.value(b);
  return x.has_shape && y.has_shape && x.shape == y.shape;
}

std::optional<std::vector<float>> per_channel(const Tensor& constant, size_t rank, size_t axis,
                                              int64_t channels) {
  const Dims& dims = constant.dims();
  if (constant.dtype() != DType::kF32 || axis >= rank || dims.size() > rank) return std::nullopt;
  const float* data = constant.as<float>();
  if (constant.count() == 1) {
    return std::vector<float>(static_cast<size_t>(channels), data[0]);
  }
  const size_t from_right = rank - axis;
  if (constant.count() != channels || dims.size() < from_right ||
      dims[dims.size() - from_right] != channels) {
    return std::nullopt;
  }
  return std::vector<float>(data, data + channels);
}

bool is_all(const Rewriter& rewriter, ValueId id, double number) {
  const Tensor* t = rewriter.constant(id);
  if (t == nullptr) return false;
  bool all = true;
  const bool known = dispatch_number(t->dtype(), [&](auto x) {
    using T = decltype(x);
    for (int64_t i = 0; all && i < t->count(); ++i) {
      all = static_cast<double>(Compute<T>::load(t->as<T>()[i])) == number;
    }
  });
  return known && all;
}

bool is_number(const Rewriter& rewriter, ValueId id, double number) {
  const Tensor* t = rewriter.constant(id);
  if (t == nullptr || t->count() != 1) return false;
  double value = NAN;
  dispatch_number(t->dtype(), [&](auto x) {
    using T = decltype(x);
    value = static_cast<double>(Compute<T>::load(*t->as<T>()));
  });
  return std::abs(value - number) <= 1e-6 * std::abs(number);
}

int producer_of(const Rewriter& rewriter, ValueId id, std::string_view op) {
  if (id == kNoValue) return -1;
  const int at = rewriter.producer(id);
  if (at < 0 || !rewriter.alive(static_cast<size_t>(at))) return -1;
  const Node& node = rewriter.node(static_cast<size_t>(at));
  return node.domain.empty() && node.op == op ? at : -1;
}

ValueId other_input(const Node& node, ValueId id) {
  if (node.inputs.size() != 2) return kNoValue;
  return node.inputs[0] == id ? node.inputs[1] : node.inputs[1] == id ? node.inputs[0] : kNoValue;
}

namespace {

void take_apart(const Rewriter& rewriter, size_t at, bool divides, Product* product) {
  constexpr size_t kMaxNodes = 8;
  product->nodes.push_back(at);
  const Node& node = rewriter.node(at);
  for (size_t i = 0; i < 2; ++i) {
    const ValueId id = node.inputs[i];
    float number = 0;
    if (rewriter.scalar(id, &number)) {
      product->constant *= divides && i == 1 ? 1 / static_cast<double>(number) : number;
      continue;
    }
    const int mul = producer_of(rewriter, id, "Mul"), div = producer_of(rewriter, id, "Div");
    float unused = 0;
    const bool by_constant =
        div >= 0 && rewriter.scalar(rewriter.node(static_cast<size_t>(div)).inputs[1], &unused);
    if ((mul >= 0 || by_constant) && rewriter.single_user(id) == static_cast<int>(at) &&
        product->nodes.size() < kMaxNodes) {
      take_apart(rewriter, static_cast<size_t>(std::max(mul, div)), mul < 0, product);
    } else {
      product->factors.push_back(id);
    }
  }
}

}  // namespace

Product match_product(const Rewriter& rewriter, size_t root) {
  Product product;
  const Node& node = rewriter.node(root);
  float unused = 0;
  if (!node.domain.empty() || node.inputs.size() != 2 || !rewriter.alive(root)) return product;
  if (node.op == "Mul" || (node.op == "Div" && rewriter.scalar(node.inputs[1], &unused))) {
    take_apart(rewriter, root, node.op == "Div", &product);
  }
  return product;
}

bool replace_nodes(Rewriter& rewriter, std::vector<size_t> nodes, Node by) {
  const size_t root = nodes[0];
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (size_t at : nodes) {
    if (at == root) continue;
    for (ValueId id : rewriter.node(at).outputs) {
      if (id == kNoValue) continue;
      int inside = 0;
      for (size_t reader : nodes) {
        const auto& inputs = rewriter.node(reader).inputs;
        inside += static_cast<int>(std::count(inputs.begin(), inputs.end(), id));
      }
      if (inside != rewriter.uses(id)) return false;
    }
  }
  for (size_t at : nodes) rewriter.remove(at);
  rewriter.insert_before(root, std::move(by));
  return true;
}

Result<int> fuse_each(Graph& graph, const std::function<Result<bool>(Rewriter&, size_t)>& fn) {
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    Rewriter rewriter(graph, block);
    int changes = 0;
    for (size_t i = 0; i < rewriter.size(); ++i) {
      HASTEN_TRY(const bool changed, fn(rewriter, i));
      changes += changed ? 1 : 0;
    }
    rewriter.sweep();
    return changes;
  });
}

Node onnx_node(const Node& like, const char* op, int64_t version, std::vector<ValueId> inputs) {
  Node node;
  node.name = like.name;
  node.op = op;
  node.version = version;
  node.def = find_op(node.domain, node.op, node.version);
  node.inputs = std::move(inputs);
  node.outputs = {like.outputs[0]};
  return node;
}

}  // namespace hasten
