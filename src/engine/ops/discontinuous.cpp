#include "engine/ops/discontinuous.h"

#include <algorithm>

namespace hasten {

namespace {

DType dtype_of(const Graph& graph, ValueId id) {
  return id == kNoValue ? DType::kNone : graph.value(id).dtype;
}

/// To integers, bool, text, or a float with fewer digits.
bool narrows(const Graph& graph, const Node& node) {
  const auto digits = [](DType t) {
    switch (t) {
      case DType::kF64:
        return 53;
      case DType::kF32:
        return 24;
      case DType::kF16:
        return 11;
      case DType::kBF16:
        return 8;
      default:
        return 0;
    }
  };
  const DType to = node.outputs.empty() ? DType::kNone : dtype_of(graph, node.outputs[0]);
  return digits(to) < digits(dtype_of(graph, node.input(0)));
}

bool returns_indices(const Graph&, const Node& node) {
  return node.outputs.size() > 1 && node.outputs[1] != kNoValue;
}

bool takes_nearest(const Graph&, const Node& node) {
  return node.attr_string("mode", node.op == "GridSample" ? "linear" : "nearest") == "nearest";
}

bool counts_samples(const Graph&, const Node& node) {
  return node.attr_int("sampling_ratio", 0) == 0;
}

bool jumps(const Graph&, const Node& node) {
  return node.op == "Shrink" ? node.attr_float("lambd", 0.5f) != node.attr_float("bias", 0)
                             : node.attr_float("alpha", 1) != 0;
}

/// One row an operator: float inputs from `first` on decide, of nodes for which `when` holds (null:
/// all).
struct Row {
  const char* op;
  bool (*when)(const Graph&, const Node&) = nullptr;
  size_t first = 0;
  const char* domain = "";
};

constexpr Row kRows[] = {
    // Rounded.
    {"QuantizeLinear"},
    {"DynamicQuantizeLinear"},
    {"QLinearConv"},
    {"QLinearMatMul"},
    {"DynamicQuantizeLSTM", nullptr, 0, "com.microsoft"},
    {"Round"},
    {"Floor"},
    {"Ceil"},
    {"Mod"},
    {"Cast", narrows},
    {"CastLike", narrows},
    {"OneHot"},
    {"Range"},
    {"Resize", takes_nearest, 1},
    {"Upsample", takes_nearest, 1},
    {"GridSample", takes_nearest, 1},
    {"MaxRoiPool", nullptr, 1},
    {"RoiAlign", counts_samples, 1},
    // Compared.
    {"Greater"},
    {"GreaterOrEqual"},
    {"Less"},
    {"LessOrEqual"},
    {"Equal"},
    {"Sign"},
    {"NonZero"},
    {"ThresholdedRelu", jumps},
    {"Shrink", jumps},
    {"Bernoulli"},
    {"Multinomial"},
    // Picked.
    {"ArgMax"},
    {"ArgMin"},
    {"Hardmax"},
    {"TopK"},
    {"Unique"},
    {"NonMaxSuppression"},
    {"MaxPool", returns_indices},
};

}  // namespace

bool decides_on(const Graph& graph, const Node& node, size_t input) {
  if (!is_float(dtype_of(graph, node.input(input)))) return false;
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    return node.op == row.op && node.domain == row.domain && input >= row.first &&
           (row.when == nullptr || row.when(graph, node));
  });
}

}  // namespace hasten
