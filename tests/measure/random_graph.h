// Random graphs of what the passes look for, in the forms that exporters write.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/ir/shape.h"

namespace hasten::test {

/// The text of a graph over images [1,C,H,W] or rows [R,C], and the elements of its input.
struct RandomGraph {
  std::string text;
  std::vector<float> input;
  Dims dims;
};

/// Makes nodes one after the other, each value of the input's dims; among them what the passes look
/// for, as exporters write it. Constants of equal dims may be shared, inner values be outputs too.
class GraphBuilder {
 public:
  /// `rounds`: with nodes that round or decide, where a difference in the last place may grow.
  GraphBuilder(uint32_t seed, bool rounds) : bits_(seed), rounds_(rounds) {
    image_ = below(2) == 0;
    channels_ = 1 + below(20);
    const int64_t a = 1 + below(7), b = 1 + below(7);
    dims_ = image_ ? Dims{1, channels_, a, b} : Dims{a, channels_};
  }

  RandomGraph build() {
    RandomGraph g;
    g.dims = dims_;
    for (int64_t i = 0; i < count_of(dims_); ++i) g.input.push_back(any_number());
    for (int i = 0; i < 14; ++i) {
      const std::string from = any_value();
      switch (below(rounds_ ? 13 : 12)) {
        case 0:
          add(fmt::format("{}(%{}, %{})", pick({"Add", "Mul", "Sub", "Div"}), from,
                          constant(per_channel())));
          break;
        case 1:
          add(fmt::format("{}(%{}, %{})", pick({"Add", "Mul", "Sub", "Max"}), from, last()));
          break;
        case 2:
        case 3:
          add_product(from);
          break;
        case 4:
          add(fmt::format("Softmax(%{}) {{axis=-1}}", from));
          break;
        case 5:
          if (image_) {
            add(fmt::format("Conv(%{}, %{}) {{group={}, pads=[1,1,1,1]}}", from,
                            constant({channels_, 1, 3, 3}), channels_));
          } else {
            add(fmt::format("Transpose(%{})", from));
            add(fmt::format("Transpose(%{})", last()));
          }
          break;
        case 6:
          add_scaled(add_product(from));
          break;
        case 7:
          add_residual(from);
          break;
        case 8:
          add_layer_norm(from);
          break;
        case 9:
        case 10:
          add_activation(from);
          break;
        case 11:
          add(fmt::format("{}(%{})",
                          pick({"Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Abs", "HardSwish", "Erf",
                                "Identity", "LeakyRelu"}),
                          from));
          break;
        default:
          add_rounding(from);
      }
      values_.push_back(last());
    }
    if (values_.size() > 1) values_.erase(values_.begin());
    std::string outputs;
    for (const std::string& v :
         values_) {  // what nobody reads, or some of it, and now and then more
      const bool read = nodes_.find("%" + v + ",") != std::string::npos ||
                        nodes_.find("%" + v + ")") != std::string::npos;
      const bool seldom = below(8) == 1;
      if (read == seldom || outputs.empty()) outputs += (outputs.empty() ? "%" : ", %") + v;
    }
    g.text = fmt::format("graph \"g\" opset {{\"\": 17}}\n{}in %x: f32{}\n{}out {}\n", constants_,
                         dims_text(dims_), nodes_, outputs);
    return g;
  }

 private:
  int below(int n) { return static_cast<int>(bits_() % static_cast<uint32_t>(n)); }
  /// Ordinary ones only: what zeros and large ones do to a graph is nobody's fault.
  float any_number() { return static_cast<float>(below(253) - 125) / 37; }
  const char* pick(std::initializer_list<const char*> from) {
    return from.begin()[below(static_cast<int>(from.size()))];
  }
  const std::string& last() const { return last_; }
  std::string any_value() {
    return values_[static_cast<size_t>(below(static_cast<int>(values_.size())))];
  }
  Dims per_channel() const { return image_ ? Dims{channels_, 1, 1} : Dims{channels_}; }

  /// One more node of one output.
  const std::string& add(const std::string& call) {
    last_ = fmt::format("v{}", count_++);
    nodes_ += fmt::format("%{} = {}\n", last_, call);
    return last_;
  }

  /// A constant: now and then one that is there already. `low`: no number is below it.
  std::string constant(const Dims& dims, float low = -1e9f) {
    std::vector<std::string>& known = shared_[{dims, low}];
    if (!known.empty() && below(4) == 0) return known.back();
    known.push_back(fmt::format("k{}", count_++));
    constants_ += fmt::format("const %{}: f32{} = {{", known.back(), dims_text(dims));
    for (int64_t i = 0; i < count_of(dims); ++i) {
      constants_ += fmt::format("{}{}", i ? ", " : "", std::max(low, any_number()));
    }
    constants_ += "}\n";
    return known.back();
  }
  std::string number(float x) {
    const std::string name = fmt::format("k{}", count_++);
    constants_ += fmt::format("const %{}: f32[] = {{{}}}\n", name, x);
    return name;
  }

  /// A convolution of one pixel or a matrix product, half of them with a bias.
  std::string add_product(const std::string& from) {
    const std::string w =
        constant(image_ ? Dims{channels_, channels_, 1, 1} : Dims{channels_, channels_});
    const bool bias = below(2) == 0;
    const char* const op = image_ ? "Conv" : bias ? "Gemm" : "MatMul";
    return add(bias ? fmt::format("{}(%{}, %{}, %{})", op, from, w, constant({channels_}))
                    : fmt::format("{}(%{}, %{})", op, from, w));
  }

  /// Shifted, scaled or normalized by channel, then perhaps an activation.
  void add_scaled(const std::string& from) {
    switch (below(3)) {
      case 0:
        add(fmt::format("Add(%{}, %{})", from, constant(per_channel())));
        break;
      case 1:
        add(fmt::format("Mul(%{}, %{})", from, constant(per_channel())));
        add(fmt::format("Add(%{}, %{})", last(), constant(per_channel())));
        break;
      default: {
        const std::string scale = constant({channels_}), shift = constant({channels_}),
                          mean = constant({channels_}), variance = constant({channels_}, 0.25f);
        add(fmt::format("BatchNormalization(%{}, %{}, %{}, %{}, %{})", from, scale, shift, mean,
                        variance));
      }
    }
    if (below(2) == 0) add_activation(last());
  }

  /// The sum of a product and its own input, or of another one of the same input; perhaps clipped,
  /// and then perhaps scaled and shifted.
  void add_residual(const std::string& from) {
    const std::string a = add_product(from);
    const std::string b = below(2) == 0 ? from : add_product(from);
    add(below(2) == 0 ? fmt::format("Add(%{}, %{})", a, b) : fmt::format("Add(%{}, %{})", b, a));
    if (below(2) != 0) return;
    add(fmt::format("Relu(%{})", last()));
    if (count_ % 2 == 0) return;
    add(fmt::format("Mul(%{}, %{})", last(), number(0.75f)));
    add(fmt::format("Add(%{}, %{})", last(), number(-0.5f)));
  }

  void add_layer_norm(const std::string& from) {
    const Dims inner = {dims_.back()};
    const std::string mean = add(fmt::format("ReduceMean(%{}) {{axes=[-1]}}", from));
    const std::string d = add(fmt::format("Sub(%{}, %{})", from, mean));
    const std::string square = below(2) == 0 ? add(fmt::format("Pow(%{}, %{})", d, number(2)))
                                             : add(fmt::format("Mul(%{}, %{})", d, d));
    const std::string variance = add(fmt::format("ReduceMean(%{}) {{axes=[-1]}}", square));
    const std::string e = add(fmt::format("Add(%{}, %{})", variance, number(1e-5f)));
    const std::string s = add(fmt::format("Sqrt(%{})", e));
    if (below(2) == 0) {
      add(fmt::format("Div(%{}, %{})", d, s));
    } else {
      add(fmt::format("Reciprocal(%{})", s));
      add(fmt::format("Mul(%{}, %{})", d, last()));
    }
    if (below(3) != 0) add(fmt::format("Mul(%{}, %{})", last(), constant(inner)));
    if (below(3) != 0) add(fmt::format("Add(%{}, %{})", last(), constant(inner)));
  }

  /// GELU, SiLU or HardSwish in parts.
  void add_activation(const std::string& from) {
    const auto times = [this](const std::string& a, const std::string& b) {
      return add(below(2) == 0 ? fmt::format("Mul(%{}, %{})", a, b)
                               : fmt::format("Mul(%{}, %{})", b, a));
    };
    switch (below(5)) {
      case 0: {
        add(fmt::format("Div(%{}, %{})", from, number(1.4142135f)));
        add(fmt::format("Erf(%{})", last()));
        add(fmt::format("Add(%{}, %{})", last(), number(1)));
        times(from, last());
        times(last(), number(0.5f));
        break;
      }
      case 1: {
        const std::string half = times(from, number(0.5f));
        add(fmt::format("Pow(%{}, %{})", from, number(3)));
        times(last(), number(0.044715f));
        add(fmt::format("Add(%{}, %{})", from, last()));
        times(last(), number(0.7978845608f));
        add(fmt::format("Tanh(%{})", last()));
        add(fmt::format("Add(%{}, %{})", last(), number(1)));
        times(half, last());
        break;
      }
      case 2:
        add(fmt::format("Sigmoid(%{})", from));
        times(from, last());
        break;
      case 3:
        add(fmt::format("HardSigmoid(%{}) {{alpha=0.16666667}}", from));
        times(from, last());
        break;
      default: {
        const std::string zero = number(0), six = number(6);
        add(fmt::format("Add(%{}, %{})", from, number(3)));
        add(fmt::format("Clip(%{}, %{}, %{})", last(), zero, six));
        times(from, last());
        add(fmt::format("Div(%{}, %{})", last(), six));
      }
    }
  }

  void add_rounding(const std::string& from) {
    switch (below(3)) {
      case 0:
        add(fmt::format("Round(%{})", from));
        break;
      case 1: {
        const std::string q = fmt::format("q{}", count_++);
        nodes_ += fmt::format("%{0}, %{0}s, %{0}z = DynamicQuantizeLinear(%{1})\n", q, from);
        add(fmt::format("DequantizeLinear(%{0}, %{0}s, %{0}z)", q));
        break;
      }
      default: {
        const std::string q = fmt::format("q{}", count_++);
        nodes_ += fmt::format("%{} = Greater(%{}, %{})\n", q, from, number(0.1f));
        add(fmt::format("Where(%{}, %{}, %{})", q, from, any_value()));
      }
    }
  }

  std::mt19937 bits_;
  bool rounds_, image_ = false;
  int64_t channels_ = 1;
  Dims dims_;
  int count_ = 0;
  std::string constants_, nodes_, last_ = "x";
  std::vector<std::string> values_ = {"x"};  // that further nodes may read
  std::map<std::pair<Dims, float>, std::vector<std::string>> shared_;
};

}  // namespace hasten::test
