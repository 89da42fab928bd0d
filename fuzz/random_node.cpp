#include "fuzz/random_node.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

namespace hasten::fuzz {

namespace {

// What an operator takes, one letter an input: x: the data. b: what broadcasts to it. s: the same
// shape. v: one number a channel (axis 1), l: one along the last axis. w: a filter, m: the right
// side of a product. 1: one number. i: indices. n: a list of small int64, about one a dim. k: one
// int64. t: truths. f: a positive f32, z: a zero point. d: any shape. Upper case: f32 whatever the
// data is. Inputs behind the last letter are as the last.
const std::map<std::string_view, const char*>& recipes() {
  static const std::map<std::string_view, const char*> table = {
      {"BatchNormalization", "xvvvv"},
      {"InstanceNormalization", "xvv"},
      {"GroupNormalization", "xvv"},
      {"LayerNormalization", "xll"},
      {"Conv", "xwo"},
      {"ConvTranspose", "xuv"},
      {"ConvInteger", "xwzz"},
      {"QLinearConv", "xfzwfzfzO"},
      {"QLinearMatMul", "xfzmfzfz"},
      {"MatMulInteger", "xmzz"},
      {"MatMul", "xm"},
      {"Gemm", "xmb"},
      {"QuantizeLinear", "xfq"},
      {"DequantizeLinear", "xfz"},
      {"Clip", "x11"},
      {"Pow", "xb"},
      {"Gather", "xi"},
      {"GatherElements", "xi"},
      {"GatherND", "xi"},
      {"ScatterElements", "xis"},
      {"Scatter", "xis"},
      {"ScatterND", "xid"},
      {"Reshape", "xn"},
      {"Expand", "xn"},
      {"Tile", "xn"},
      {"Pad", "xn1n"},
      {"Slice", "xnnnn"},
      {"Squeeze", "xn"},
      {"Unsqueeze", "xn"},
      {"ConstantOfShape", "n"},
      {"Range", "111"},
      {"OneHot", "xkd"},
      {"TopK", "xk"},
      {"CumSum", "xk"},
      {"Trilu", "xk"},
      {"Split", "xn"},
      {"Where", "tbx"},
      {"Compress", "xt"},
      {"And", "tt"},
      {"Or", "tt"},
      {"Xor", "tt"},
      {"Not", "t"},
      {"Resize", "xFFn"},
      {"Upsample", "xF"},
      {"ReverseSequence", "xi"},
      {"NonMaxSuppression", "XXkFF"},
      {"RoiAlign", "xdi"},
      {"MaxRoiPool", "xd"},
      {"MaxUnpool", "xin"},
      {"GridSample", "xd"},
      {"AffineGrid", "dn"},
      {"Col2Im", "xnn"},
      {"CenterCropPad", "xn"},
      {"DFT", "xkk"},
      {"STFT", "xkdk"},
      {"MelWeightMatrix", "kkkFF"},
      {"HannWindow", "k"},
      {"HammingWindow", "k"},
      {"BlackmanWindow", "k"},
      {"NegativeLogLikelihoodLoss", "xiv"},
      {"SoftmaxCrossEntropyLoss", "xiv"},
      {"LRN", "x"},
      {"Dropout", "xFt"},
      {"CastLike", "xq"},
      {"PRelu", "xb"},
      {"Einsum", "xx"},
      {"Concat", "xs"},
      {"SequenceAt", "xk"},
      {"BitShift", "xb"},
      {"DynamicQuantizeLinear", "X"},
  };
  return table;
}

constexpr std::array kNumeric{DType::kF32, DType::kF32,  DType::kF32,  DType::kF64,
                              DType::kF16, DType::kBF16, DType::kI64,  DType::kI32,
                              DType::kI16, DType::kI8,   DType::kU8,   DType::kU16,
                              DType::kU32, DType::kU64,  DType::kBool, DType::kString};

class Maker {
 public:
  explicit Maker(Choices& c) : c_(c) {}

  std::optional<RandomNode> node() {
    const auto ops = all_ops();
    const OpDef* def = ops[static_cast<size_t>(c_.below(static_cast<int>(ops.size())))];
    if (def->reference == nullptr || def->takes_sequences) return std::nullopt;
    op_ = def->name;
    spread_ = static_cast<Spread>(c_.below(6));
    choose_data();
    if (op_ == "LSTM" || op_ == "GRU" || op_ == "RNN" || op_ == "DynamicQuantizeLSTM") {
      recurrent(def);
    } else {
      inputs(def);
    }
    const int64_t version =
        def->since + c_.below(std::min(def->until, kLastOpset) - def->since + 1);
    RandomNode r;
    r.op.node.name = "n";
    r.op.node.op = def->name;
    r.op.node.domain = def->domain;
    r.op.node.version = version;
    r.op.node.def = def;
    for (const char* name : def->attrs) {
      if (set_.count(name)) {
        r.op.node.attrs.emplace_back(name, set_[name]);
      } else if (c_.below(2) == 0) {
        r.op.node.attrs.emplace_back(name, attribute(name));
      }
    }
    ValueId id = 0;
    for (const Tensor& t : inputs_) r.op.node.inputs.push_back(t.empty() ? kNoValue : id++);
    const int most = def->max_outputs < 0 ? 4 : def->max_outputs;
    const int outputs = std::max(1, most - c_.below(most - def->min_outputs + 1));
    for (int i = 0; i < outputs; ++i) {
      r.op.node.outputs.push_back(i > 0 && i >= def->min_outputs && c_.one_in(4) ? kNoValue : id++);
    }
    r.op.inputs = std::move(inputs_);
    r.op.exact_math = c_.one_in(2);
    if (c_.one_in(3)) r.op.constant.assign(r.op.inputs.size(), false);
    r.extreme = spread_ == Spread::kExtreme;
    return r;
  }

 private:
  int64_t dim() {
    constexpr std::array<int64_t, 16> kDims{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 1, 2, 3, 33, 0};
    return c_.of(kDims);
  }

  void choose_data() {
    dtype_ = c_.of(kNumeric);
    const int rank = c_.below(8) == 7 ? c_.below(7) : 2 + c_.below(3);
    int64_t count = 1;
    for (int i = 0; i < rank; ++i) {
      int64_t d = dim();
      if (count * d > 2048) d = 1 + c_.below(3);
      if (count * d > 4096) d = 1;
      count *= d;
      dims_.push_back(d);
    }
  }

  /// Elements of any dtype; integers over their whole range where the spread is not small.
  Tensor tensor(DType dtype, Dims dims, Spread spread) {
    auto made = Tensor::make(dtype, std::move(dims));
    if (!made) return {};
    Tensor t = std::move(*made);
    Numbers numbers(static_cast<uint64_t>(c_.below(256)) + 1, spread);
    const bool wide = spread == Spread::kSpecial || spread == Spread::kExtreme;
    dispatch_any(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < t.count(); ++i) {
        T& out = t.mutable_as<T>()[i];
        if constexpr (std::is_same_v<T, std::string>) {
          constexpr std::array kWords{"", "a", "b c", "Ünï", "1e3", "-7", "nan", "0x1"};
          out = kWords[numbers.bits() % kWords.size()];
        } else if constexpr (std::is_same_v<T, bool>) {
          out = numbers.bits() % 2 == 0;
        } else if constexpr (std::is_integral_v<T>) {
          const auto bits = numbers.bits();
          constexpr std::array kEnds{std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                     static_cast<T>(-1), static_cast<T>(1), T{0}};
          if (!wide) {
            out = static_cast<T>(static_cast<int64_t>(bits % 9) - (std::is_signed_v<T> ? 4 : 0));
          } else {
            out = bits % 4 == 0 ? kEnds[bits / 4 % kEnds.size()] : static_cast<T>(bits >> 8);
          }
        } else {
          out = Compute<T>::store(static_cast<typename Compute<T>::type>(numbers.next()));
        }
      }
    });
    return t;
  }
  Tensor data(DType dtype, Dims dims) { return tensor(dtype, std::move(dims), spread_); }

  Tensor int64s(std::vector<int64_t> values) {
    const auto n = static_cast<int64_t>(values.size());
    return Tensor::ints({n}, values);
  }
  int64_t small_int() {
    if (c_.one_in(32)) {
      constexpr std::array<int64_t, 6> kHostile{INT64_MIN,        INT64_MAX,
                                                INT64_MIN + 1,    int64_t{1} << 31,
                                                int64_t{1} << 62, -(int64_t{1} << 31)};
      return c_.of(kHostile);
    }
    return c_.below(12) - 3;
  }
  int64_t at(const Dims& dims, size_t axis) const { return axis < dims.size() ? dims[axis] : 1; }

  Dims broadcastable() {
    Dims d = dims_;
    for (int64_t& x : d) {
      if (c_.one_in(4)) x = 1;
    }
    if (c_.one_in(3) && !d.empty()) {
      d.erase(d.begin(), d.begin() + c_.below(static_cast<int>(d.size()) + 1));
    } else if (c_.one_in(8)) {
      d.insert(d.begin(), dim() % 4);
    }
    return d;
  }
  Dims any_dims() {
    Dims d;
    const int rank = c_.below(5);
    for (int i = 0; i < rank; ++i)
      d.push_back(c_.one_in(2) ? at(dims_, static_cast<size_t>(i)) : 1 + c_.below(5));
    return d;
  }

  /// [M, C/groups, kernel…], with group and kernel_shape to suit.
  Tensor filter(DType dtype, bool transposed) {
    const int64_t channels = at(dims_, 1);
    int64_t group = 1;
    if (c_.one_in(3)) group = std::max<int64_t>(1, channels);
    if (c_.one_in(4) && channels % 2 == 0) group = std::max<int64_t>(1, channels / 2);
    const int64_t out = group == channels && c_.one_in(2) ? channels : group * (1 + dim() % 20);
    Dims d = transposed ? Dims{channels, std::max<int64_t>(1, out / group)}
                        : Dims{out, channels / group};
    channels_out_ = out;
    std::vector<int64_t> kernel;
    for (size_t i = 2; i < dims_.size(); ++i) {
      kernel.push_back(1 + c_.below(3));
      d.push_back(kernel.back());
    }
    set_["group"] = group;
    if (c_.one_in(2)) set_["kernel_shape"] = kernel;
    return data(dtype, d);
  }

  Tensor input(char role) {
    switch (role) {
      case 'x':
        return data(dtype_, dims_);
      case 'X':
        return data(DType::kF32, dims_);
      case 'b':
        return data(dtype_, broadcastable());
      case 's': {
        Dims d = dims_;
        if (op_ == "Concat" && !d.empty()) d[0] = dim();
        return data(dtype_, d);
      }
      case 'v':
        return data(dtype_, {at(dims_, 1)});
      case 'o':
        return data(dtype_, {channels_out_});
      case 'O':
        return data(DType::kI32, {channels_out_});
      case 'l':
        return data(dtype_, {dims_.empty() ? 1 : dims_.back()});
      case 'w':
      case 'u': {
        const DType t = op_ == "Conv" || op_ == "ConvTranspose" ? dtype_
                        : c_.one_in(2)                          ? DType::kI8
                                                                : dtype_;
        return filter(t, role == 'u');
      }
      case 'm': {
        Dims d = dims_;
        const int64_t k = dims_.empty() ? 1 : dims_.back();
        if (c_.one_in(3)) d.clear();
        if (d.size() >= 2)
          d.resize(d.size() - 2);
        else
          d.clear();
        d.push_back(k);
        if (!c_.one_in(6)) d.push_back(dim());
        return data(op_.starts_with("Mat") && op_ != "MatMul" && c_.one_in(2) ? DType::kI8 : dtype_,
                    d);
      }
      case '1':
        return data(dtype_, c_.one_in(6) ? Dims{1} : Dims{});
      case 'i': {
        Dims d = c_.one_in(2) ? dims_ : any_dims();
        const int64_t n = std::max<int64_t>(1, at(dims_, static_cast<size_t>(c_.below(4))));
        Tensor t = *Tensor::make(c_.one_in(3) ? DType::kI32 : DType::kI64, d);
        Numbers numbers(static_cast<uint64_t>(c_.below(256)), Spread::kWhole);
        const bool outside = c_.one_in(8);
        dispatch_int(t.dtype(), [&](auto zero) {
          using T = decltype(zero);
          for (int64_t j = 0; j < t.count(); ++j) {
            const auto r = static_cast<int64_t>(numbers.bits() >> 2);
            t.mutable_as<T>()[j] = static_cast<T>(outside ? r : r % (2 * n) - n);
          }
        });
        return t;
      }
      case 'n': {
        std::vector<int64_t> list;
        const int n =
            c_.one_in(3) ? c_.below(6) : static_cast<int>(dims_.size()) * (op_ == "Pad" ? 2 : 1);
        const bool of_dims = c_.one_in(2);
        for (int i = 0; i < n; ++i) {
          list.push_back(of_dims ? at(dims_, static_cast<size_t>(i)) : small_int());
        }
        return int64s(std::move(list));
      }
      case 'k': {
        const int64_t k = small_int();
        return Tensor::ints(c_.one_in(2) ? Dims{} : Dims{1}, std::span(&k, 1));
      }
      case 't':
        return data(DType::kBool, broadcastable());
      case 'f':
        return tensor(
            DType::kF32,
            c_.one_in(3) ? Dims{channels_out_ > 0 ? channels_out_ : at(dims_, 1)} : Dims{},
            spread_ == Spread::kExtreme ? spread_ : Spread::kPositive);
      case 'F':
        return tensor(DType::kF32, {static_cast<int64_t>(dims_.size())},
                      c_.one_in(2) ? Spread::kOnes : Spread::kPositive);
      case 'z':
        return data(dtype_, c_.one_in(3) ? Dims{at(dims_, 1)} : Dims{});
      case 'q':
        return data(c_.of(kNumeric), {});
      default:
        return data(c_.one_in(4) ? c_.of(kNumeric) : dtype_, any_dims());
    }
  }

  void inputs(const OpDef* def) {
    const auto found = recipes().find(op_);
    const std::string roles = found == recipes().end() ? "xb" : found->second;
    if (roles.find('z') != roles.npos || op_ == "ConvInteger") {
      dtype_ = c_.one_in(2) ? DType::kU8 : c_.one_in(4) ? dtype_ : DType::kI8;
    }
    if (op_ == "Range" && spread_ == Spread::kExtreme) spread_ = Spread::kWhole;
    const int most = def->max_inputs < 0 ? 4 : def->max_inputs;
    const int n = most - c_.below(most - def->min_inputs + 1);
    for (int i = 0; i < n; ++i) {
      char role = roles[std::min(static_cast<size_t>(i), roles.size() - 1)];
      if (c_.one_in(32)) role = c_.of(std::array{'x', 'b', 'i', 'n', 'k', 'd', 't', '1', 'q', 'X'});
      if (i >= def->min_inputs && c_.one_in(3)) {
        inputs_.emplace_back();
      } else {
        inputs_.push_back(input(role));
      }
    }
    while (!inputs_.empty() && inputs_.back().empty()) inputs_.pop_back();
  }

  /// X [T,B,I], W, R, B, sequence_lens, initial states, P: sizes that fit.
  void recurrent(const OpDef* def) {
    const int64_t gates = op_ == "GRU" ? 3 : op_ == "RNN" ? 1 : 4;
    const int64_t steps = c_.below(4), batch = c_.below(4), in = dim() % 18,
                  hidden = 1 + c_.below(20);
    const int way = c_.below(3);
    constexpr std::array<const char*, 3> kWays{"forward", "reverse", "bidirectional"};
    const int64_t ways = way == 2 ? 2 : 1;
    if (way > 0) set_["direction"] = std::string(kWays[static_cast<size_t>(way)]);
    set_["hidden_size"] = hidden;
    const bool batch_first = c_.one_in(4) && def->since >= 14;
    set_["layout"] = int64_t{batch_first};
    set_["clip"] = c_.one_in(4) ? 0.5F : 0.0F;
    const DType t = DType::kF32;
    if (spread_ == Spread::kWhole) spread_ = Spread::kSmall;
    const auto weights = [&](Dims dims) {
      Tensor w = data(t, std::move(dims));
      return w;
    };
    const Dims state = batch_first ? Dims{batch, ways, hidden} : Dims{ways, batch, hidden};
    std::vector<Tensor> all;
    all.push_back(data(t, batch_first ? Dims{batch, steps, in} : Dims{steps, batch, in}));
    const bool quantized = op_ == "DynamicQuantizeLSTM";
    if (quantized) {
      all.push_back(
          tensor(c_.one_in(2) ? DType::kU8 : DType::kI8, {ways, in, 4 * hidden}, Spread::kSpecial));
      all.push_back(tensor(all[1].dtype(), {ways, hidden, 4 * hidden}, Spread::kSpecial));
    } else {
      all.push_back(weights({ways, gates * hidden, in}));
      all.push_back(weights({ways, gates * hidden, hidden}));
    }
    all.push_back(c_.one_in(2) ? weights({ways, 2 * gates * hidden}) : Tensor());
    Tensor lens;
    if (c_.one_in(2)) {
      lens = *Tensor::make(DType::kI32, {batch});
      for (int64_t i = 0; i < batch; ++i) {
        lens.mutable_as<int32_t>()[i] = static_cast<int32_t>(c_.below(static_cast<int>(steps) + 1));
      }
    }
    all.push_back(lens);
    all.push_back(c_.one_in(2) ? weights(state) : Tensor());
    if (gates == 4) {
      all.push_back(c_.one_in(2) ? weights(state) : Tensor());
      all.push_back(c_.one_in(2) ? weights({ways, 3 * hidden}) : Tensor());
    }
    if (quantized) {
      const Dims scale = c_.one_in(2) ? Dims{ways} : Dims{ways, 4 * hidden};
      for (int i = 0; i < 2; ++i) {
        all.push_back(tensor(DType::kF32, scale, Spread::kPositive));
        all.push_back(tensor(all[1].dtype(), scale, Spread::kWhole));
      }
    } else {
      while (!all.empty() && all.back().empty()) all.pop_back();
    }
    inputs_ = std::move(all);
  }

  Attr ints(int64_t low, int n_low, int n, size_t count) {
    std::vector<int64_t> list;
    if (c_.one_in(16)) count = static_cast<size_t>(c_.below(6));
    for (size_t i = 0; i < count; ++i) {
      list.push_back(c_.one_in(64) ? small_int() : low + n_low + c_.below(n));
    }
    return list;
  }

  Attr attribute(std::string_view name) {
    const auto rank = static_cast<int>(dims_.size());
    const size_t pixels = rank > 2 ? static_cast<size_t>(rank) - 2 : 1;
    if (name == "kernel_shape" || name == "strides") return ints(1, 0, 3, pixels);
    if (name == "dilations") return ints(1, 0, 2, pixels);
    if (name == "pads") {
      return ints(0, op_ == "Pad" ? -1 : 0, 3,
                  op_ == "Pad" ? 2 * static_cast<size_t>(rank) : 2 * pixels);
    }
    if (name == "output_padding") return ints(0, 0, 2, pixels);
    if (name == "output_shape") return ints(1, 0, 9, pixels);
    if (name == "pooled_shape") return ints(1, 0, 3, 2);
    if (name == "axis" || name == "batch_axis" || name == "time_axis") {
      return c_.one_in(32) ? small_int() : int64_t{c_.below(2 * rank + 2)} - rank - 1;
    }
    if (name == "axes") {
      std::vector<int64_t> list;
      for (int i = 0; i < rank; ++i) {
        if (c_.one_in(2)) list.push_back(c_.one_in(4) ? i - rank : i);
      }
      if (c_.one_in(32)) list.push_back(small_int());
      return list;
    }
    if (name == "perm") {
      std::vector<int64_t> perm(static_cast<size_t>(rank));
      std::iota(perm.begin(), perm.end(), 0);
      for (int i = rank - 1; i > 0; --i) {
        std::swap(perm[static_cast<size_t>(i)], perm[static_cast<size_t>(c_.below(i + 1))]);
      }
      return perm;
    }
    if (name == "starts" || name == "ends" || name == "split" || name == "repeats") {
      return ints(-2, 0, 8, static_cast<size_t>(rank));
    }
    if (name == "to" || name == "dtype" || name == "output_dtype" || name == "output_datatype") {
      return int64_t{c_.below(24)};
    }
    if (name == "num_groups" || name == "blocksize" || name == "group" || name == "num_outputs" ||
        name == "p" || name == "size" || name == "storage_order" || name == "batch_dims" ||
        name == "k" || name == "block_size") {
      return c_.one_in(16) ? small_int()
                           : int64_t{1} + c_.below(4) - (name == "batch_dims" ? 1 : 0);
    }
    if (name == "auto_pad") {
      return std::string(c_.of(std::array{"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}));
    }
    if (name == "direction")
      return std::string(c_.of(std::array{"LEFT", "RIGHT", "forward", "reverse"}));
    if (name == "mode") {
      return std::string(
          c_.of(std::array{"constant", "reflect", "edge", "wrap", "linear", "nearest", "cubic",
                           "bilinear", "bicubic", "DCR", "CRD", "avg", "max"}));
    }
    if (name == "coordinate_transformation_mode") {
      return std::string(c_.of(std::array{
          "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
          "tf_half_pixel_for_nn", "tf_crop_and_resize", "output_half_pixel"}));
    }
    if (name == "nearest_mode") {
      return std::string(
          c_.of(std::array{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
    }
    if (name == "keep_aspect_ratio_policy") {
      return std::string(c_.of(std::array{"stretch", "not_larger", "not_smaller"}));
    }
    if (name == "padding_mode")
      return std::string(c_.of(std::array{"zeros", "border", "reflection"}));
    if (name == "reduction") {
      return std::string(c_.of(std::array{"none", "add", "mul", "max", "min", "mean", "sum"}));
    }
    if (name == "approximate") return std::string(c_.of(std::array{"none", "tanh"}));
    if (name == "equation") {
      return std::string(
          c_.of(std::array{"ij,jk->ik", "...ij,...jk->...ik", "ij->ji", "ii->i", "ij,ij->",
                           "bij,bjk", "i,j->ij", "...ii->...i", "ab,bc,cd->ad", "i->", "ij,->ij"}));
    }
    if (name == "delimiter" || name == "pattern" || name == "case_change_action") {
      return std::string(
          c_.of(std::array{"", " ", "a", "[a-z]+", "LOWER", "UPPER", "NONE", "(", "c"}));
    }
    if (name == "value") return data(c_.of(kNumeric), {1});
    if (name == "activations") {
      std::vector<std::string> list;
      const int n = 1 + c_.below(6);
      for (int i = 0; i < n; ++i) {
        list.emplace_back(
            c_.of(std::array{"Sigmoid", "Tanh", "Relu", "HardSigmoid", "Elu", "Affine", "Softsign",
                             "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "Softplus"}));
      }
      return list;
    }
    if (name == "activation_alpha" || name == "activation_beta" || name == "scales") {
      std::vector<float> list;
      const int n = name == "scales" ? rank : 1 + c_.below(4);
      for (int i = 0; i < n; ++i) list.push_back(static_cast<float>(1 + c_.below(4)) / 2);
      return list;
    }
    // Less, and a constant's rounding is what is divided by the deviation.
    if (name == "epsilon") return c_.one_in(2) ? 0.1F : 1e-3F;
    constexpr std::array<std::string_view, 15> kFloats{
        "alpha", "beta", "gamma", "momentum",      "bias",  "lambd",         "clip", "min",
        "max",   "low",  "high",  "spatial_scale", "ratio", "cubic_coeff_a", "mean"};
    if (std::find(kFloats.begin(), kFloats.end(), name) != kFloats.end()) {
      constexpr std::array<float, 8> kValues{1, 0.5F, 0, -1, 2, 1e-5F, 0.1F, 30};
      return c_.of(kValues);
    }
    if (c_.one_in(32)) return small_int();
    return int64_t{c_.below(2)};  // a switch
  }

  Choices& c_;
  std::string_view op_;
  Spread spread_ = Spread::kSmall;
  DType dtype_ = DType::kF32;
  Dims dims_;
  int64_t channels_out_ = 0;
  std::vector<Tensor> inputs_;
  std::map<std::string_view, Attr> set_;
};

}  // namespace

std::optional<RandomNode> random_node(Choices& c) { return Maker(c).node(); }

}  // namespace hasten::fuzz
