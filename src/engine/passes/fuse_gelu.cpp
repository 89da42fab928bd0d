// GELU as exporters write it, by erf or by tanh.
//
//   %d = Div(%x, sqrt 2); %e = Erf(%d); %a = Add(%e, 1); %m = Mul(%x, %a); %y = Mul(%m, 0.5)
//       ->   %y = Gelu(%x)
//   x * 0.5 * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
//       ->   %y = Gelu(%x) {approximate="tanh"}
//
// The products in any order, by Mul or Div; the cube as Pow or as products. f32, constants within
// 1e-6, where nobody else reads what lies between. Outputs agree within 1e-6 of max(1, |y|): the
// roundings of the products differ.
#include <cmath>

#include "engine/passes/pass.h"
#include "engine/passes/patterns.h"

namespace hasten {

namespace {

bool near(double x, double wanted) { return std::abs(x - wanted) <= 1e-6 * wanted; }

/// The other operand of an Add of this number, which is `*at`; kNoValue where it isn't one.
ValueId match_add(const Rewriter& rewriter, ValueId sum, double number, size_t* at) {
  const int add = producer_of(rewriter, sum, "Add");
  if (add < 0) return kNoValue;
  *at = static_cast<size_t>(add);
  const Node& node = rewriter.node(*at);
  for (ValueId id : node.inputs) {
    if (is_number(rewriter, id, number)) return other_input(node, id);
  }
  return kNoValue;
}

void append(std::vector<size_t>& nodes, const std::vector<size_t>& more) {
  nodes.insert(nodes.end(), more.begin(), more.end());
}

/// The product that makes a value; without factors where it isn't one.
Product product_of(const Rewriter& rewriter, ValueId id) {
  const int at = id == kNoValue ? -1 : rewriter.producer(id);
  return at < 0 ? Product() : match_product(rewriter, static_cast<size_t>(at));
}

/// x / sqrt 2?
bool match_erf_operand(const Rewriter& rewriter, ValueId id, ValueId x,
                       std::vector<size_t>& nodes) {
  const Product p = product_of(rewriter, id);
  if (p.factors != std::vector<ValueId>{x} || !near(p.constant, std::sqrt(0.5))) return false;
  append(nodes, p.nodes);
  return true;
}

/// 0.044715 x^3?
bool match_cube(const Rewriter& rewriter, ValueId id, ValueId x, std::vector<size_t>& nodes) {
  const Product p = product_of(rewriter, id);
  if (!near(p.constant, 0.044715)) return false;
  append(nodes, p.nodes);
  if (p.factors == std::vector<ValueId>{x, x, x}) return true;
  if (p.factors.size() != 1) return false;
  const int at = producer_of(rewriter, p.factors[0], "Pow");
  if (at < 0) return false;
  const Node& pow = rewriter.node(static_cast<size_t>(at));
  nodes.push_back(static_cast<size_t>(at));
  return pow.inputs[0] == x && is_number(rewriter, pow.inputs[1], 3);
}

/// sqrt(2 / pi) (x + 0.044715 x^3)?
bool match_tanh_operand(const Rewriter& rewriter, ValueId id, ValueId x,
                        std::vector<size_t>& nodes) {
  const Product p = product_of(rewriter, id);
  if (p.factors.size() != 1 || !near(p.constant, std::sqrt(2 / M_PI))) return false;
  append(nodes, p.nodes);
  const int at = producer_of(rewriter, p.factors[0], "Add");
  if (at < 0) return false;
  nodes.push_back(static_cast<size_t>(at));
  const ValueId cube = other_input(rewriter.node(static_cast<size_t>(at)), x);
  return cube != kNoValue && match_cube(rewriter, cube, x, nodes);
}

bool fuse_at(Rewriter& rewriter, size_t root) {
  const Product product = match_product(rewriter, root);
  if (product.factors.size() != 2 || !near(product.constant, 0.5)) return false;
  const Node& top = rewriter.node(root);
  for (size_t k = 0; k < 2; ++k) {
    const ValueId x = product.factors[k];
    if (rewriter.value(x).dtype != DType::kF32 ||
        !same_shape(rewriter.graph(), x, top.outputs[0])) {
      continue;
    }
    std::vector<size_t> nodes = product.nodes;
    size_t add = 0;
    const ValueId curve = match_add(rewriter, product.factors[1 - k], 1, &add);
    if (curve == kNoValue) continue;
    nodes.push_back(add);
    const int erf = producer_of(rewriter, curve, "Erf"),
              tanh = producer_of(rewriter, curve, "Tanh");
    if (erf < 0 && tanh < 0) continue;
    const auto at = static_cast<size_t>(std::max(erf, tanh));
    nodes.push_back(at);
    const ValueId operand = rewriter.node(at).inputs[0];
    const bool matches = erf >= 0 ? match_erf_operand(rewriter, operand, x, nodes)
                                  : match_tanh_operand(rewriter, operand, x, nodes);
    if (!matches) continue;
    Node gelu = onnx_node(top, "Gelu", 20, {x});
    if (tanh >= 0) gelu.set_attr("approximate", std::string("tanh"));
    return replace_nodes(rewriter, std::move(nodes), std::move(gelu));
  }
  return false;
}

Result<int> run(Graph& graph, PassContext&) { return fuse_each(graph, fuse_at); }

}  // namespace

extern const Pass pass_fuse_gelu;
const Pass pass_fuse_gelu = {"fuse_gelu", "x / 2 * (1 + Erf(x / sqrt 2)) -> Gelu(x)", run, 1e-6};

}  // namespace hasten
