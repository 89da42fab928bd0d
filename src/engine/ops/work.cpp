#include "engine/ops/work.h"

#include <algorithm>
#include <map>

namespace hasten {

namespace {

std::optional<Dims> output_dims(const Graph& graph, const Node& node) {
  const auto made = std::find_if(node.outputs.begin(), node.outputs.end(),
                                 [](ValueId id) { return id != kNoValue; });
  return made == node.outputs.end() ? std::nullopt : known_dims(graph, *made);
}

/// The product of all dims but the first.
double behind_first(std::span<const int64_t> dims) {
  return dims.empty() ? 1 : element_count(dims.subspan(1));
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
    double rest = element_count(*dims);
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

double largest(std::span<const int64_t> dims) {
  return dims.empty() ? 1 : static_cast<double>(*std::max_element(dims.begin(), dims.end()));
}

/// Of operators whose loops run more often than they have elements.
double superlinear_steps(const Node& node, const DimsOf& in, const std::optional<Dims>& out) {
  if (node.op == "DeformConv") {
    const auto weight = in(1);
    return weight && out ? element_count(*out) * behind_first(*weight) : 0;
  }
  if (is_one_of(node.op, {"DFT", "STFT"})) {  // of a prime length
    return out ? element_count(*out) * largest(*out) : 0;
  }
  const auto first = in(0);
  if (!first || first->empty()) return 0;
  if (node.op == "Det") return element_count(*first) * static_cast<double>(first->back());
  if (node.op == "NonMaxSuppression" && first->size() == 3) {  // each box with each, for a class
    const auto scores = in(1);
    return scores ? element_count(*scores) * static_cast<double>((*first)[1]) : 0;
  }
  return 0;
}

}  // namespace

std::optional<Dims> known_dims(const Graph& graph, ValueId id) {
  if (id == kNoValue) return std::nullopt;
  const Value& value = graph.value(id);
  if (value.is_constant()) return value.constant.dims();
  if (!value.has_shape || !is_known(value.shape)) return std::nullopt;
  return to_dims(value.shape);
}

double element_count(std::span<const int64_t> dims) {
  double n = 1;
  for (const int64_t d : dims) n *= static_cast<double>(d);
  return n;
}

std::optional<double> multiply_adds(const Node& node, const DimsOf& in,
                                    const std::optional<Dims>& out) {
  if (is_one_of(node.op, {"Conv", "ConvInteger", "QLinearConv"})) {
    const auto weight = in(node.op == "QLinearConv" ? 3 : 1);
    if (!weight || !out) return std::nullopt;
    return element_count(*out) *
           behind_first(*weight);  // out: N M spatial; weight: M C/group kernel
  }
  if (node.op == "ConvTranspose") {
    const auto x = in(0), weight = in(1);
    if (!weight || !x) return std::nullopt;
    return element_count(*x) * behind_first(*weight);  // x: N C spatial; weight: C M/group kernel
  }
  if (is_one_of(node.op, {"MatMul", "MatMulInteger", "QLinearMatMul", "FusedMatMul"})) {
    const auto a = in(0);
    if (!a || !out || a->empty()) return std::nullopt;
    return element_count(*out) * static_cast<double>(a->back());
  }
  if (node.op == "Gemm") {
    const auto a = in(0);
    if (!a || !out || a->size() != 2) return std::nullopt;
    return element_count(*out) * static_cast<double>((*a)[node.attr_int("transA", 0) != 0 ? 0 : 1]);
  }
  if (is_one_of(node.op, {"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"})) {
    const auto x = in(0), w = in(1), r = in(2);
    if (!x || !w || !r || x->size() != 3) return std::nullopt;
    return static_cast<double>((*x)[0] * (*x)[1]) * (element_count(*w) + element_count(*r));
  }
  if (node.op == "Einsum") return einsum(node, in);
  return 0;
}

std::optional<double> multiply_adds(const Graph& graph, const Node& node) {
  return multiply_adds(
      node, [&](size_t i) { return known_dims(graph, node.input(i)); }, output_dims(graph, node));
}

double loop_steps(const Node& node, const DimsOf& in, const std::optional<Dims>& out) {
  double steps = out ? element_count(*out) : 0;
  if (node.op.ends_with("Pool")) {
    for (const int64_t k : node.attr_ints("kernel_shape")) steps *= static_cast<double>(k);
  } else if (node.op == "RoiAlign") {
    const auto samples = static_cast<double>(node.attr_int("sampling_ratio", 0));
    steps *= std::max(1.0, samples * samples);
  } else {
    steps = std::max(steps, superlinear_steps(node, in, out));
  }
  return std::max(steps, multiply_adds(node, in, out).value_or(0));
}

double loop_steps(const Graph& graph, const Node& node) {
  return loop_steps(
      node, [&](size_t i) { return known_dims(graph, node.input(i)); }, output_dims(graph, node));
}

}  // namespace hasten
