// Graphs made of bytes: what the fuzzers of passes and kernels run.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/bind.h"

namespace hasten::fuzz {

/// Decisions out of the fuzzer's bytes; zeros once they are used up.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  int below(int n) {
    if (at_ >= size_) return 0;
    return data_[at_++] % n;
  }
  bool done() const { return at_ >= size_; }
  /// Small numbers, now and then a zero or a large one.
  float number() {
    const int x = below(256);
    if (x == 0) return 0;
    if (x == 1) return -0.0f;
    if (x == 2) return 1e4f;
    return static_cast<float>(x - 128) / 37.0f;
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

/// The text of a graph over images [1,C,H,W] and rows [R,C], and the elements of its input.
struct RandomGraph {
  std::string text;
  std::vector<float> input;
  Dims dims;
};

inline std::string floats(Choices& c, const std::string& name, const Dims& dims) {
  std::string text = fmt::format("const %{}: f32{} = {{", name, dims_text(dims));
  for (int64_t i = 0; i < count_of(dims); ++i) {
    text += fmt::format("{}{}", i ? ", " : "", c.number());
  }
  return text + "}\n";
}

inline RandomGraph random_graph(const uint8_t* data, size_t size) {
  Choices c(data, size);
  RandomGraph g;
  const bool image = c.below(2) == 0;
  const int64_t channels = 1 + c.below(20), a = 1 + c.below(7), b = 1 + c.below(7);
  g.dims = image ? Dims{1, channels, a, b} : Dims{a, channels};
  for (int64_t i = 0; i < count_of(g.dims); ++i) g.input.push_back(c.number());
  static const char* const kUnary[] = {"Relu", "Sigmoid",   "Tanh", "Exp",     "Neg",
                                       "Abs",  "HardSwish", "Erf",  "Identity"};
  static const char* const kBinary[] = {"Add", "Mul", "Sub", "Max"};
  std::string constants, nodes;
  std::vector<std::string> values = {"x"};  // all of the input's dims
  const Dims per_channel = image ? Dims{channels, 1, 1} : Dims{channels};
  for (int i = 0; i < 14 && !c.done(); ++i) {
    const std::string from = values[static_cast<size_t>(c.below(static_cast<int>(values.size())))];
    const std::string out = fmt::format("v{}", i), k = fmt::format("k{}", i);
    switch (c.below(8)) {
      case 0:
        constants += floats(c, k, per_channel);
        nodes += fmt::format("%{} = {}(%{}, %{})\n", out, kBinary[c.below(3)], from, k);
        break;
      case 1:
        nodes += fmt::format("%{} = {}(%{}, %{})\n", out, kBinary[c.below(4)], from, values.back());
        break;
      case 2:
      case 3:
        if (image) {
          constants += floats(c, k, {channels, channels, 1, 1});
          nodes += fmt::format("%{} = Conv(%{}, %{})\n", out, from, k);
        } else {
          constants += floats(c, k, {channels, channels});
          nodes += fmt::format("%{} = MatMul(%{}, %{})\n", out, from, k);
        }
        break;
      case 4:
        nodes += fmt::format("%{} = Softmax(%{}) {{axis=-1}}\n", out, from);
        break;
      case 5:
        if (image) {
          constants += floats(c, k, {channels, 1, 3, 3});
          nodes += fmt::format("%{} = Conv(%{}, %{}) {{group={}, pads=[1,1,1,1]}}\n", out, from, k,
                               channels);
        } else {
          nodes +=
              fmt::format("%{}t = Transpose(%{})\n%{} = Transpose(%{}t)\n", out, from, out, out);
        }
        break;
      case 6:
        nodes +=
            fmt::format("%{}s = Sigmoid(%{})\n%{} = Mul(%{}, %{}s)\n", out, from, out, from, out);
        break;
      default:
        nodes += fmt::format("%{} = {}(%{})\n", out, kUnary[c.below(9)], from);
    }
    values.push_back(out);
  }
  g.text = fmt::format("graph \"g\" opset {{\"\": 17}}\n{}in %x: f32{}\n{}out %{}\n", constants,
                       dims_text(g.dims), nodes, values.back());
  return g;
}

/// The outputs, or nothing where an engine refuses.
inline std::vector<float> run(Context& context, const RandomGraph& g,
                              const EngineOptions& options) {
  auto graph = parse_graph(g.text);
  if (!graph || !bind_graph(*graph)) std::abort();  // the generator's fault
  auto engine = NativeEngine::compile(context, std::move(*graph), options);
  if (!engine) std::abort();
  auto runner = (*engine)->make_runner();
  const TensorView input{DType::kF32, g.dims, g.input.data(), Layout::kPlain};
  if (!(*runner)->bind(std::span(&input, 1)) || !(*runner)->run()) std::abort();
  const TensorView out = (*runner)->outputs()[0];
  return {out.as<float>(), out.as<float>() + out.count()};
}

}  // namespace hasten::fuzz
