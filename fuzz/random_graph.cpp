#include "fuzz/random_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "fuzz/choices.h"

namespace hasten::fuzz {

namespace {

constexpr int kMaxNodes = 24;
constexpr int64_t kMaxElements = 4096;  // of a value

class Builder {
 public:
  explicit Builder(Choices& c) : c_(c) {}

  RandomGraph build() {
    RandomGraph g;
    g.dims = input_dims();
    const auto spread = static_cast<Spread>(c_.below(3));
    Numbers numbers(static_cast<uint64_t>(c_.below(256)), spread);
    for (int64_t i = 0; i < count_of(g.dims); ++i) {
      g.input.push_back(static_cast<float>(numbers.next()));
    }
    values_.push_back({"x", g.dims});
    while (nodes_ < kMaxNodes && !c_.done()) step();
    std::string outputs = "%" + values_.back().name;
    // What lies between may be asked for too, and then can't be fused away.
    if (values_.size() > 2 && c_.one_in(3)) {
      const std::string other = pick().name;
      if (other != "x" && other != values_.back().name) outputs += ", %" + other;
    }
    g.text = fmt::format("graph \"g\" opset {{\"\": 20}}\n{}in %x: f32{}\n{}out {}\n", constants_,
                         dims_text(g.dims), text_, outputs);
    return g;
  }

 private:
  struct Value {
    std::string name;
    Dims dims;
  };

  Dims input_dims() {
    const auto dim = [&](std::initializer_list<int64_t> list) {
      return *(list.begin() + c_.below(static_cast<int>(list.size())));
    };
    const int64_t batch = dim({1, 1, 2, 3, 1, 0}), channels = dim({1, 3, 16, 17, 8, 20, 32, 2});
    switch (c_.below(3)) {
      case 0:
        return {batch, channels, dim({1, 2, 4, 5, 7}), dim({1, 3, 4, 6, 8})};
      case 1:
        return {batch, channels};
      default:
        return {batch, dim({1, 2, 5}), channels};
    }
  }

  const Value& pick() { return c_.of(values_); }
  /// The last value more often than others: chains are what passes fuse.
  Value from() { return c_.one_in(4) ? pick() : values_.back(); }

  std::string fresh() { return fmt::format("v{}", nodes_++); }
  /// A node; returns its output's name.
  std::string emit(const std::string& op, const std::vector<std::string>& in,
                   const std::string& attrs = "") {
    const std::string out = fresh();
    text_ += fmt::format("%{} = {}({}){}\n", out, op, fmt::join(in, ", "),
                         attrs.empty() ? "" : " {" + attrs + "}");
    return "%" + out;
  }
  void give(const std::string& value, Dims dims) {
    values_.push_back({value.substr(1), std::move(dims)});
  }

  /// Numbers of a byte or two.
  std::string weights(const Dims& dims, Spread spread) {
    Numbers numbers(static_cast<uint64_t>(c_.below(256)), spread);
    std::vector<float> list;
    for (int64_t i = 0; i < count_of(dims); ++i) list.push_back(static_cast<float>(numbers.next()));
    return constant(dims, list);
  }
  std::string weights(const Dims& dims) {
    return weights(dims, c_.of(std::array{Spread::kSmall, Spread::kSmall, Spread::kWhole,
                                          Spread::kOnes, Spread::kPositive}));
  }
  std::string constant(const Dims& dims, const std::vector<float>& list) {
    const std::string name = fmt::format("k{}", constant_count_++);
    constants_ +=
        fmt::format("const %{}: f32{} = {{{}}}\n", name, dims_text(dims), fmt::join(list, ", "));
    return "%" + name;
  }
  std::string ints(const std::vector<int64_t>& list) {
    const std::string name = fmt::format("k{}", constant_count_++);
    constants_ +=
        fmt::format("const %{}: i64[{}] = {{{}}}\n", name, list.size(), fmt::join(list, ", "));
    return "%" + name;
  }
  std::string number(float x) { return constant({}, {x}); }
  static std::string list(const std::vector<int64_t>& values) {
    return fmt::format("[{}]", fmt::join(values, ","));
  }

  Dims per_channel(const Dims& dims) {
    if (dims.size() != 4) return {dims.empty() ? 1 : dims.back()};
    return c_.one_in(2) ? Dims{1, dims[1], 1, 1} : Dims{dims[1], 1, 1};
  }

  void step() {
    const Value x = from();
    const bool image = x.dims.size() == 4, empty = count_of(x.dims) == 0;
    // 26 forms as they always were, so that the corpora keep their meaning; what a byte has beyond
    // them goes to later ones.
    constexpr int kForms = 26, kWhole = 256 / kForms * kForms;
    const int form = c_.below(256);
    if (form >= kWhole) {
      if (!image || empty) return unary(x);
      return form % 2 == 0 ? transposed_convolution(x) : scaled_activation(x);
    }
    switch (form % kForms) {
      case 0:
      case 1:
        return unary(x);
      case 2:
      case 3:
        return with_constant(x);
      case 4:
        return with_other(x);
      case 5:
      case 6:
      case 7:
        return image ? convolution(x) : product(x);
      case 8:
        return image ? batch_norm(x) : gemm(x);
      case 9:
        return gelu(x);
      case 10:
        return hard_swish(x);
      case 11: {
        const std::string s = emit("Sigmoid", {"%" + x.name});
        return give(c_.one_in(2) ? emit("Mul", {"%" + x.name, s}) : emit("Mul", {s, "%" + x.name}),
                    x.dims);
      }
      case 12:
      case 13:
        return empty ? unary(x) : layer_norm(x);
      case 14:
        return transpose(x);
      case 15:
        return reshape(x);
      case 16:
        return image && !empty ? pool(x) : unary(x);
      case 17:
        return empty ? unary(x) : reduce(x);
      case 18:
        return concat(x);
      case 19:
        return empty ? unary(x) : slice(x);
      case 20:
        return twins(x);
      case 21:
        return empty || x.dims.empty() ? unary(x) : softmax(x);
      case 22:
        return nothing(x);
      case 23:
        return shape_arithmetic(x);
      case 24:
        return folded(x);
      default:
        return branch(x);
    }
  }

  void unary(const Value& x) {
    switch (c_.below(16)) {
      case 0:
        return give(emit("LeakyRelu", {"%" + x.name}, "alpha=0.1"), x.dims);
      case 1:
        return give(emit("Clip", {"%" + x.name, number(0), number(6)}), x.dims);
      case 2:
        return give(emit("Clip", {"%" + x.name, number(-0.5F), "_"}), x.dims);
      case 3:
        return give(emit("HardSigmoid", {"%" + x.name}, "alpha=0.16666667, beta=0.5"), x.dims);
      case 4:
        return give(emit("Gelu", {"%" + x.name}, c_.one_in(2) ? "approximate=\"tanh\"" : ""),
                    x.dims);
      default: {
        constexpr std::array kOps{"Relu", "Relu",     "Sigmoid", "Tanh", "HardSwish",
                                  "Erf",  "Abs",      "Neg",     "Elu",  "Softplus",
                                  "Selu", "Softsign", "Mish",    "Exp",  "Identity"};
        return give(emit(c_.of(kOps), {"%" + x.name}), x.dims);
      }
    }
  }

  void with_constant(const Value& x) {
    constexpr std::array kOps{"Add", "Mul", "Sub", "Div", "Max", "Min"};
    const std::string op = c_.of(kOps);
    const Spread spread = op == "Div" ? Spread::kPositive : static_cast<Spread>(c_.below(4));
    Dims dims;
    switch (c_.below(4)) {
      case 0:
        break;  // one number
      case 1:
        dims = x.dims;
        break;
      default:
        dims = per_channel(x.dims);
    }
    const std::string k = weights(dims, spread), v = "%" + x.name;
    give(op != "Div" && c_.one_in(3) ? emit(op, {k, v}) : emit(op, {v, k}), x.dims);
  }

  void with_other(const Value& x) {
    constexpr std::array kOps{"Add", "Add", "Mul", "Sub", "Max", "Sum"};
    std::vector<std::string> same;
    for (const Value& v : values_) {
      if (v.dims == x.dims) same.push_back("%" + v.name);
    }
    give(emit(c_.of(kOps), {"%" + x.name, c_.of(same)}), x.dims);
  }

  void convolution(const Value& x) {
    const int64_t channels = x.dims[1];
    if (channels == 0) return unary(x);
    int64_t group = 1, out = c_.of(std::array<int64_t, 7>{1, 3, 8, 16, 17, 32, 0});
    if (out == 0) out = channels;
    if (c_.one_in(3)) group = out = channels;
    const int64_t kernel = 1 + c_.below(3), stride = 1 + c_.below(2), dilation = 1 + c_.below(2);
    const int64_t pad = c_.below(static_cast<int>(kernel)), span = (kernel - 1) * dilation + 1;
    Dims dims = {x.dims[0], out, 0, 0};
    for (size_t i = 2; i < 4; ++i) {
      const int64_t size = x.dims[i] + 2 * pad - span;
      if (size < 0) return unary(x);
      dims[i] = size / stride + 1;
    }
    if (count_of(dims) > kMaxElements) return unary(x);
    std::vector<std::string> in = {"%" + x.name, weights({out, channels / group, kernel, kernel})};
    if (c_.one_in(2)) in.push_back(weights({out}));
    give(emit("Conv", in,
              fmt::format("group={}, strides=[{},{}], dilations=[{},{}], pads=[{},{},{},{}]", group,
                          stride, stride, dilation, dilation, pad, pad, pad, pad)),
         dims);
  }

  void transposed_convolution(const Value& x) {
    const int64_t channels = x.dims[1];
    const int64_t out = c_.of(std::array<int64_t, 5>{1, 3, 8, 16, 20});
    const int64_t kernel = 1 + c_.below(3), stride = c_.one_in(3) ? 1 : kernel;
    Dims dims = {x.dims[0], out, (x.dims[2] - 1) * stride + kernel,
                 (x.dims[3] - 1) * stride + kernel};
    if (count_of(dims) > kMaxElements) return unary(x);
    std::vector<std::string> in = {"%" + x.name, weights({channels, out, kernel, kernel})};
    if (c_.one_in(2)) in.push_back(weights({out}));
    give(emit("ConvTranspose", in, fmt::format("strides=[{},{}]", stride, stride)), dims);
  }

  /// A convolution, its activation, a number times it and another on top.
  void scaled_activation(const Value& x) {
    convolution(x);
    const Value sums = values_.back();
    const std::string y = emit(c_.one_in(2) ? "Relu" : "HardSwish", {"%" + sums.name});
    const std::string scaled = emit("Mul", {y, number(static_cast<float>(c_.below(5)) - 2)});
    give(emit("Add", {number(static_cast<float>(c_.below(5)) / 4), scaled}), sums.dims);
  }

  void product(const Value& x) {
    if (x.dims.empty()) return unary(x);
    const int64_t k = x.dims.back(), n = c_.of(std::array<int64_t, 6>{1, 3, 16, 17, 33, 8});
    Dims dims = x.dims;
    dims.back() = n;
    if (count_of(dims) > kMaxElements) return unary(x);
    give(emit("MatMul", {"%" + x.name, weights({k, n})}), dims);
  }

  void gemm(const Value& x) {
    if (x.dims.size() != 2) return product(x);
    const int64_t k = x.dims[1], n = c_.of(std::array<int64_t, 5>{1, 3, 16, 17, 8});
    const bool turned = c_.one_in(2);
    std::vector<std::string> in = {"%" + x.name, weights(turned ? Dims{n, k} : Dims{k, n})};
    if (!c_.one_in(3)) in.push_back(weights(c_.one_in(3) ? Dims{} : Dims{n}));
    std::string attrs = fmt::format("transB={}", turned ? 1 : 0);
    if (c_.one_in(3)) attrs += ", alpha=0.5, beta=2.0";
    give(emit("Gemm", in, attrs), {x.dims[0], n});
  }

  void batch_norm(const Value& x) {
    const Dims c = {x.dims[1]};
    give(emit("BatchNormalization",
              {"%" + x.name, weights(c), weights(c), weights(c), weights(c, Spread::kPositive)}),
         x.dims);
  }

  void gelu(const Value& x) {
    const std::string v = "%" + x.name;
    const bool half_first = c_.one_in(2);
    const std::string h = half_first ? emit("Mul", {v, number(0.5F)}) : v;
    std::string inner;
    if (c_.one_in(2)) {
      inner = emit("Erf", {c_.one_in(2) ? emit("Div", {v, number(1.41421356F)})
                                        : emit("Mul", {v, number(0.70710678F)})});
    } else {
      const std::string cube =
          c_.one_in(2) ? emit("Pow", {v, number(3)}) : emit("Mul", {emit("Mul", {v, v}), v});
      const std::string sum = emit("Add", {v, emit("Mul", {cube, number(0.044715F)})});
      inner = emit("Tanh", {emit("Mul", {sum, number(0.79788456F)})});
    }
    const std::string one = emit("Add", {inner, number(1)});
    const std::string m = emit("Mul", {h, one});
    give(half_first ? m : emit("Mul", {m, number(0.5F)}), x.dims);
  }

  void hard_swish(const Value& x) {
    const std::string v = "%" + x.name;
    if (c_.one_in(2)) {
      const std::string s = emit("HardSigmoid", {v}, "alpha=0.16666667, beta=0.5");
      return give(emit("Mul", {v, s}), x.dims);
    }
    const std::string a = emit("Add", {v, number(3)});
    const std::string r = emit("Clip", {a, number(0), number(6)});
    const std::string m = emit("Mul", {v, r});
    give(c_.one_in(2) ? emit("Div", {m, number(6)}) : emit("Mul", {m, number(1.0F / 6)}), x.dims);
  }

  void layer_norm(const Value& x) {
    if (x.dims.empty()) return unary(x);
    const std::string v = "%" + x.name;
    const int over = x.dims.size() > 1 && c_.one_in(4) ? 2 : 1;
    const Dims last(x.dims.end() - over, x.dims.end());
    if (c_.one_in(4)) {
      return give(emit("LayerNormalization", {v, weights(last), weights(last)},
                       fmt::format("axis={}, epsilon=0.01", -over)),
                  x.dims);
    }
    const std::string axes =
        ints(over == 2 ? std::vector<int64_t>{-2, -1} : std::vector<int64_t>{-1});
    const auto mean = [&](const std::string& of) { return emit("ReduceMean", {of, axes}); };
    const std::string d = emit("Sub", {v, mean(v)});
    const std::string p = c_.one_in(2) ? emit("Pow", {d, number(2)}) : emit("Mul", {d, d});
    const std::string s = emit("Sqrt", {emit("Add", {mean(p), number(0.01F)})});
    std::string n = c_.one_in(2) ? emit("Div", {d, s}) : emit("Mul", {d, emit("Reciprocal", {s})});
    if (!c_.one_in(3)) {
      n = emit("Mul", {n, weights(last)});
      if (!c_.one_in(3)) n = emit("Add", {n, weights(last)});
    }
    give(n, x.dims);
  }

  void transpose(const Value& x) {
    std::vector<int64_t> perm(x.dims.size());
    std::iota(perm.begin(), perm.end(), 0);
    for (size_t i = perm.size(); i > 1; --i) {
      std::swap(perm[i - 1], perm[static_cast<size_t>(c_.below(static_cast<int>(i)))]);
    }
    Dims dims;
    for (const int64_t p : perm) dims.push_back(x.dims[static_cast<size_t>(p)]);
    if (perm.empty()) return unary(x);
    give(emit("Transpose", {"%" + x.name}, "perm=" + list(perm)), dims);
  }

  void reshape(const Value& x) {
    switch (c_.below(4)) {
      case 0: {
        if (x.dims.empty()) return unary(x);
        const int64_t rest = count_of(std::span(x.dims).subspan(1));
        return give(emit("Flatten", {"%" + x.name}), {x.dims[0], rest});
      }
      case 1: {
        Dims dims = x.dims;
        if (dims.size() > 3) return unary(x);
        dims.insert(dims.begin(), 1);
        return give(emit("Unsqueeze", {"%" + x.name, ints({0})}), dims);
      }
      case 2: {
        if (x.dims.size() < 2 || x.dims[0] != 1) return unary(x);
        return give(emit("Squeeze", {"%" + x.name, ints({0})}),
                    Dims(x.dims.begin() + 1, x.dims.end()));
      }
      default: {
        if (x.dims.size() < 2) return unary(x);
        Dims dims = x.dims;
        const int64_t last = dims.back();
        dims.pop_back();
        dims.back() *= last;
        return give(emit("Reshape", {"%" + x.name, ints(dims)}, "allowzero=1"), dims);
      }
    }
  }

  void pool(const Value& x) {
    const int how = c_.below(4);
    if (how < 2) {
      const std::string op = how == 0 ? "GlobalAveragePool" : "GlobalMaxPool";
      return give(emit(op, {"%" + x.name}), {x.dims[0], x.dims[1], 1, 1});
    }
    const int64_t kernel = 1 + c_.below(3), stride = 1 + c_.below(2);
    const int64_t pad = kernel > 1 ? c_.below(2) : 0;
    Dims dims = x.dims;
    for (size_t i = 2; i < 4; ++i) {
      const int64_t size = x.dims[i] + 2 * pad - kernel;
      if (size < 0) return unary(x);
      dims[i] = size / stride + 1;
    }
    give(emit(how == 2 ? "MaxPool" : "AveragePool", {"%" + x.name},
              fmt::format("kernel_shape=[{0},{0}], strides=[{1},{1}], pads=[{2},{2},{2},{2}]",
                          kernel, stride, pad)),
         dims);
  }

  void reduce(const Value& x) {
    if (x.dims.empty()) return unary(x);
    const int axis = c_.below(static_cast<int>(x.dims.size()));
    const bool keep = c_.one_in(2);
    Dims dims = x.dims;
    if (keep)
      dims[static_cast<size_t>(axis)] = 1;
    else
      dims.erase(dims.begin() + axis);
    constexpr std::array kOps{"ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2"};
    give(emit(c_.of(kOps), {"%" + x.name, ints({axis})}, fmt::format("keepdims={}", keep ? 1 : 0)),
         dims);
  }

  void concat(const Value& x) {
    if (x.dims.empty()) return unary(x);
    const auto axis = static_cast<size_t>(c_.below(static_cast<int>(x.dims.size())));
    const Value* other = &x;
    for (const Value& v : values_) {
      Dims a = v.dims, b = x.dims;
      if (a.size() != b.size()) continue;
      a[axis] = b[axis] = 0;
      if (a == b) other = &v;
    }
    Dims dims = x.dims;
    dims[axis] += other->dims[axis];
    if (count_of(dims) > kMaxElements) return unary(x);
    const std::string second = "%" + other->name;
    give(emit("Concat", {"%" + x.name, second}, fmt::format("axis={}", axis)), dims);
  }

  void slice(const Value& x) {
    if (x.dims.empty()) return unary(x);
    const auto axis = static_cast<size_t>(c_.below(static_cast<int>(x.dims.size())));
    const int64_t n = x.dims[axis];
    Dims dims = x.dims;
    if (c_.one_in(3)) {
      return give(emit("Slice", {"%" + x.name, ints({-1}), ints({INT64_MIN}),
                                 ints({static_cast<int64_t>(axis)}), ints({-1})}),
                  dims);
    }
    const int64_t begin = c_.below(static_cast<int>(n)),
                  end = begin + c_.below(static_cast<int>(n - begin)) + 1;
    dims[axis] = end - begin;
    give(emit("Slice",
              {"%" + x.name, ints({begin}), ints({end}), ints({static_cast<int64_t>(axis)})}),
         dims);
  }

  /// The same twice: one of them goes.
  void twins(const Value& x) {
    constexpr std::array kOps{"Relu", "Sigmoid", "Abs", "Tanh"};
    const std::string op = c_.of(kOps), a = emit(op, {"%" + x.name}), b = emit(op, {"%" + x.name});
    give(c_.one_in(2) ? emit("Add", {a, b}) : emit("Sub", {a, b}), x.dims);
  }

  void softmax(const Value& x) {
    const int axis = c_.below(static_cast<int>(x.dims.size()));
    give(
        emit(c_.one_in(4) ? "LogSoftmax" : "Softmax", {"%" + x.name}, fmt::format("axis={}", axis)),
        x.dims);
  }

  /// What changes nothing.
  void nothing(const Value& x) {
    const std::string v = "%" + x.name;
    switch (c_.below(8)) {
      case 0:
        return give(emit("Identity", {v}), x.dims);
      case 1:
        return give(emit("Dropout", {v}), x.dims);
      case 2:
        return give(emit("Cast", {v}, "to=1"), x.dims);
      case 3:
        return give(emit("Mul", {v, weights(per_channel(x.dims), Spread::kOnes)}), x.dims);
      case 4:
        return give(emit("Add", {v, number(c_.one_in(2) ? 0.0F : -0.0F)}), x.dims);
      case 5:
        return give(emit("Cast", {emit("Cast", {v}, "to=11")}, "to=1"), x.dims);
      case 6:
        return give(emit("Reshape", {v, ints(x.dims)}, "allowzero=1"), x.dims);
      default:
        return give(emit("Sub", {v, number(0)}), x.dims);
    }
  }

  /// Shape, Gather, Concat, Reshape: all known once the input is.
  void shape_arithmetic(const Value& x) {
    if (x.dims.empty() || std::count(x.dims.begin(), x.dims.end(), 0) > 0) return unary(x);
    const std::string s = emit("Shape", {"%" + x.name});
    const std::string first = emit("Slice", {s, ints({0}), ints({1})});
    const std::string to = emit("Concat", {first, ints({-1})}, "axis=0");
    give(emit("Reshape", {"%" + x.name, to}), {x.dims[0], count_of(std::span(x.dims).subspan(1))});
  }

  /// A constant that is computed.
  void folded(const Value& x) {
    const Dims dims = per_channel(x.dims);
    std::string k = weights(dims);
    k = emit(c_.of(std::array{"Neg", "Exp", "Relu", "Tanh"}), {k});
    k = emit("Mul", {k, number(0.25F)});
    give(emit(c_.of(std::array{"Add", "Mul", "Sub"}), {"%" + x.name, k}), x.dims);
  }

  /// An If on a constant, or on the size of a value.
  void branch(const Value& x) {
    std::string condition;
    if (c_.one_in(2)) {
      condition = fmt::format("k{}", constant_count_++);
      constants_ +=
          fmt::format("const %{}: bool[] = {{{}}}\n", condition, c_.one_in(2) ? "true" : "false");
      condition = "%" + condition;
    } else {
      const std::string n = emit("Size", {"%" + x.name});
      const std::string k = emit("Cast", {n}, "to=1");
      condition = emit("Greater", {k, number(static_cast<float>(c_.below(200)))});
    }
    const std::string a = fresh(), b = fresh(), out = fresh();
    text_ += fmt::format(
        "%{0} = If({1})\n  then_branch:\n    %{2} = Relu(%{4})\n    out %{2}\n  else_branch:\n"
        "    %{3} = Neg(%{4})\n    out %{3}\n",
        out, condition, a, b, x.name);
    give("%" + out, x.dims);
  }

  Choices& c_;
  std::string constants_, text_;
  std::vector<Value> values_;
  int nodes_ = 0, constant_count_ = 0;
};

template <class T>
void must(const Result<T>& result, const RandomGraph& g) {
  if (result) return;
  std::fprintf(stderr, "%s\n%s", result.error().message.c_str(), g.text.c_str());
  std::abort();
}

}  // namespace

RandomGraph random_graph(const uint8_t* data, size_t size) {
  Choices c(data, size);
  return Builder(c).build();
}

Graph graph_of(const RandomGraph& g) {
  auto graph = parse_graph(g.text);
  must(graph, g);
  must(bind_graph(*graph), g);
  must(verify(*graph), g);
  return std::move(*graph);
}

std::vector<float> run(Context& context, const RandomGraph& g, const EngineOptions& options) {
  auto engine = NativeEngine::compile(context, graph_of(g), options);
  must(engine, g);
  auto runner = (*engine)->make_runner();
  must(runner, g);
  const TensorView input{DType::kF32, g.dims, g.input.data(), Layout::kPlain};
  must((*runner)->bind(std::span(&input, 1)), g);
  must((*runner)->run(), g);
  std::vector<float> all;
  for (const TensorView& out : (*runner)->outputs()) {
    all.insert(all.end(), out.as<float>(), out.as<float>() + out.count());
  }
  return all;
}

}  // namespace hasten::fuzz
