#include "engine/ops/layout_rules.h"

#include <algorithm>

namespace hasten {

namespace {

constexpr int64_t kBlock = 16;
constexpr int64_t kFewChannels = 8;  // fewer fill too little of a block to be worth it
constexpr int64_t kShortRun = 4;     // channels that are worth copying one by one

/// f32 [N,C,H,W] with a known C.
bool is_image(const Value& v) {
  return v.dtype == DType::kF32 && v.has_shape && v.shape.size() == 4 && v.shape[1].known();
}
int64_t channels(const Value& v) { return v.shape[1].value(); }
bool is_one_pixel(const Value& v) { return v.shape[2] == Dim(1) && v.shape[3] == Dim(1); }
BlockedRule first_input(const Node& node) {
  BlockedRule rule;
  rule.inputs.assign(node.inputs.size(), InputLayout::kAsIs);
  rule.inputs[0] = InputLayout::kBlocked;
  return rule;
}

std::optional<BlockedRule> conv_rule(const Graph& graph, const Node& node, const Value& x,
                                     const Value& y) {
  const Value& w = graph.value(node.inputs[1]);
  if (!w.is_constant() || w.dtype != DType::kF32 || w.shape.size() != 4) return std::nullopt;
  const int64_t groups = node.attr_int("group", 1);
  const int64_t group_in = channels(x) / groups, group_out = channels(y) / groups;
  const bool depthwise = group_in == 1 && group_out == 1;
  if (groups > 1 && !depthwise && (group_in % kBlock != 0 || group_out % kBlock != 0)) {
    return std::nullopt;
  }
  BlockedRule rule = first_input(node);
  if (is_one_pixel(x)) {
    // What follows a global pool: nothing to gain, and a plain one-pixel operand suits everybody.
    rule.inputs.assign(node.inputs.size(), InputLayout::kPlain);
    rule.output_blocked = false;
    return rule;
  }
  rule.worth_reorder = true;
  rule.output_blocked = depthwise || channels(y) >= kFewChannels;
  if (!depthwise && channels(x) < kBlock) rule.inputs[0] = InputLayout::kAsIs;
  if (node.has_input(3)) {
    rule.inputs[3] = rule.output_blocked ? InputLayout::kBlocked : InputLayout::kPlain;
  }
  return rule;
}

/// Images of the output's channels, or one value per channel (and image), or one value.
std::optional<BlockedRule> binary_rule(const Graph& graph, const Node& node, const Value& y) {
  if (node.inputs.size() != 2) return std::nullopt;
  BlockedRule rule;
  bool any_blocked = false;
  for (ValueId id : node.inputs) {
    const Value& v = graph.value(id);
    if (!v.has_shape || v.dtype != DType::kF32 || v.shape.size() > 4) return std::nullopt;
    Shape shape(4 - v.shape.size(), Dim(1));
    shape.insert(shape.end(), v.shape.begin(), v.shape.end());
    const bool one = std::all_of(shape.begin(), shape.end(), [](Dim d) { return d == Dim(1); });
    const bool batch_fits = shape[0] == Dim(1) || shape[0] == y.shape[0];
    const bool one_pixel = shape[2] == Dim(1) && shape[3] == Dim(1);
    if (one) {
      rule.inputs.push_back(InputLayout::kPlain);
    } else if (shape[1] == y.shape[1] && batch_fits && one_pixel) {
      rule.inputs.push_back(v.shape.size() == 4 ? InputLayout::kAsIs : InputLayout::kPlain);
    } else if (v.shape.size() == 4 && shape[1] == y.shape[1] && !v.is_constant()) {
      rule.inputs.push_back(InputLayout::kBlocked);
      any_blocked = true;
    } else {
      return std::nullopt;
    }
  }
  if (!any_blocked) return std::nullopt;
  return rule;
}

std::optional<BlockedRule> concat_rule(const Graph& graph, const Node& node) {
  const int64_t axis = node.attr_int("axis", 0);
  if (axis != 1 && axis != -3) return std::nullopt;
  Dims parts;
  for (const ValueId id : node.inputs) {
    if (!is_image(graph.value(id))) return std::nullopt;
    parts.push_back(channels(graph.value(id)));
  }
  if (!joins_blocked(parts)) return std::nullopt;
  BlockedRule rule;
  rule.inputs.assign(node.inputs.size(), InputLayout::kBlocked);
  return rule;
}

bool is_binary(const std::string& op) {
  return op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Max" || op == "Min";
}

}  // namespace

bool joins_blocked(std::span<const int64_t> channels) {
  const auto blocks = [](int64_t n) { return (n + kBlock - 1) / kBlock * kBlock; };
  int64_t begin = 0;
  for (const int64_t n : channels.first(channels.size() - 1)) {
    if (n % kShortRun != 0) return false;
    begin += n;
  }
  return begin + blocks(channels.back()) >= blocks(begin + channels.back());
}

std::optional<BlockedRule> blocked_rule(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.outputs.empty() || node.inputs[0] == kNoValue ||
      node.outputs[0] == kNoValue || !node.blocks.empty()) {
    return std::nullopt;
  }
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) return std::nullopt;
  }
  // Another domain's operator of the same name may be anything.
  if (node.def == nullptr || !(node.domain.empty() || node.domain == "hasten")) return std::nullopt;
  const Value &x = graph.value(node.inputs[0]), &y = graph.value(node.outputs[0]);
  if (!is_image(y)) return std::nullopt;
  const std::string& op = node.op;
  if (is_binary(op)) return binary_rule(graph, node, y);
  if (!is_image(x)) return std::nullopt;
  if (op == "Conv" || op == "ConvTranspose") return conv_rule(graph, node, x, y);
  if (op == "Concat") return concat_rule(graph, node);
  if (node.def->unary || op == "BatchNormalization" || op == "MaxPool" || op == "AveragePool") {
    return first_input(node);
  }
  if (op == "GlobalAveragePool" || op == "GlobalMaxPool") {
    BlockedRule rule = first_input(node);
    rule.output_blocked = false;
    return rule;
  }
  if (op == "Resize" && channels(x) == channels(y) &&
      node.attr_string("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize") {
    return first_input(node);
  }
  return std::nullopt;
}

Node reorder_node(const Graph& graph, ValueId from, ValueId to, Layout layout) {
  Node node;
  node.name = graph.value(to).name + ".reorder";
  node.domain = "hasten";
  node.op = "Reorder";
  node.version = 1;
  node.def = find_op(node.domain, node.op, node.version);
  node.inputs = {from};
  node.outputs = {to};
  node.set_attr("to", std::string(layout == Layout::kPlain ? "plain" : "nchw16c"));
  return node;
}

}  // namespace hasten
