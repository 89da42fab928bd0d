#include "engine/ops/work.h"

#include <algorithm>
#include <map>

namespace hasten {

namespace {

double product(const Dims& dims, size_t from = 0) {
  double n = 1;
  for (size_t d = from; d < dims.size(); ++d) n *= static_cast<double>(dims[d]);
  return n;
}

bool is_one_of(const std::string& op, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&op](const char* n) { return op == n; });
}

/// The product of all indices of the equation; of an ellipsis as many dims as its operands have.
std::optional<double> einsum(const Node& node, const DimsOf& in) {
  std::map<char, double> sizes;
  double ellipses = 1;
  std::string equation = node.attr_string("equation", "");
  equation = equation.substr(0, equation.find("->"));
  std::erase(equation, ' ');
  size_t at = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto dims = in(i);
    if (!dims) return std::nullopt;
    const std::string term =
        equation.substr(std::min(at, equation.size()), equation.find(',', at) - at);
    at += term.size() + 1;
    double rest = product(*dims);
    const size_t dots = term.find("...");
    for (size_t k = 0; k < term.size(); ++k) {
      if (term[k] == '.') continue;
      // Letters behind the ellipsis count from the end.
      const size_t d = dots == term.npos || k < dots ? k : dims->size() - (term.size() - k);
      if (d >= dims->size()) continue;
      const auto size = static_cast<double>((*dims)[d]);
      rest /= std::max(size, 1.0);
      double& most = sizes[term[k]];
      most = std::max(most, size);
    }
    ellipses = std::max(ellipses, rest);
  }
  double n = ellipses;
  for (const auto& [letter, size] : sizes) n *= size;
  return n;
}

}  // namespace

std::optional<double> multiply_adds(const Node& node, const DimsOf& in,
                                    const std::optional<Dims>& out) {
  if (is_one_of(node.op, {"Conv", "ConvInteger", "QLinearConv"})) {
    const auto weight = in(node.op == "QLinearConv" ? 3 : 1);
    if (!weight || !out) return std::nullopt;
    return product(*out) * product(*weight, 1);  // out: N M spatial; weight: M C/group kernel
  }
  if (node.op == "ConvTranspose") {
    const auto x = in(0), weight = in(1);
    if (!weight || !x) return std::nullopt;
    return product(*x) * product(*weight, 1);  // x: N C spatial; weight: C M/group kernel
  }
  if (is_one_of(node.op, {"MatMul", "MatMulInteger", "QLinearMatMul", "FusedMatMul"})) {
    const auto a = in(0);
    if (!a || !out || a->empty()) return std::nullopt;
    return product(*out) * static_cast<double>(a->back());
  }
  if (node.op == "Gemm") {
    const auto a = in(0);
    if (!a || !out || a->size() != 2) return std::nullopt;
    return product(*out) * static_cast<double>((*a)[node.attr_int("transA", 0) != 0 ? 0 : 1]);
  }
  if (is_one_of(node.op, {"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"})) {
    const auto x = in(0), w = in(1), r = in(2);
    if (!x || !w || !r || x->size() != 3) return std::nullopt;
    return static_cast<double>((*x)[0] * (*x)[1]) * (product(*w) + product(*r));
  }
  if (node.op == "Einsum") return einsum(node, in);
  return 0;
}

double loop_steps(const Node& node, const DimsOf& in, const std::optional<Dims>& out) {
  double steps = out ? product(*out) : 0;
  if (node.op.ends_with("Pool")) {
    for (const int64_t k : node.attr_ints("kernel_shape")) steps *= static_cast<double>(k);
  }
  return std::max(steps, multiply_adds(node, in, out).value_or(0));
}

}  // namespace hasten
