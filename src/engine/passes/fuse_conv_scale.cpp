// What scales and shifts the channels of a convolution goes into its weights and bias.
//
//   %c = Conv(%x, W, b); %y = BatchNormalization(%c, scale, shift, mean, var)
//   %c = Conv(%x, W, b); %y = Mul|Div|Add|Sub(%c, constant per channel)
//       ->   %y = Conv(%x, W', b')
//
// The new weights are computed in double and rounded once. The sum is then of other products than
// before: outputs agree within 1e-5 of their scale, not bit by bit. Nothing is folded where a new
// weight would not be finite (a zero variance, a division by zero).
#include <cmath>

#include "engine/passes/pass.h"
#include "engine/passes/patterns.h"

namespace hasten {

namespace {

struct Affine {
  std::vector<double> scale, shift;  // y = scale * x + shift, by channel
};

std::optional<Affine> batch_norm(const Rewriter& rewriter, const Node& node, int64_t channels) {
  if (node.attr_int("training_mode", 0) != 0 || node.attr_int("spatial", 1) != 1)
    return std::nullopt;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) return std::nullopt;
  }
  const float* p[4];
  for (size_t i = 0; i < 4; ++i) {
    const Tensor* t = rewriter.constant(node.input(i + 1));
    if (t == nullptr || t->dtype() != DType::kF32 || t->count() != channels) return std::nullopt;
    p[i] = t->as<float>();
  }
  const double epsilon = node.attr_float("epsilon", 1e-5f);
  Affine a;
  for (int64_t c = 0; c < channels; ++c) {
    const double scale = p[0][c] / std::sqrt(p[3][c] + epsilon);
    a.scale.push_back(scale);
    a.shift.push_back(p[1][c] - p[2][c] * scale);
  }
  return a;
}

std::optional<Affine> arithmetic(const Rewriter& rewriter, const Node& node, ValueId conv_out,
                                 int64_t channels) {
  const std::string& op = node.op;
  if (op != "Mul" && op != "Div" && op != "Add" && op != "Sub") return std::nullopt;
  const bool conv_first = node.inputs[0] == conv_out;
  const ValueId other = node.inputs[conv_first ? 1 : 0];
  if (op == "Div" && !conv_first) return std::nullopt;
  const Tensor* t = rewriter.constant(other);
  const Value& out = rewriter.value(node.outputs[0]);
  if (t == nullptr || !out.has_shape) return std::nullopt;
  const auto k = per_channel(*t, out.shape.size(), channels);
  if (!k) return std::nullopt;
  Affine a;
  for (int64_t c = 0; c < channels; ++c) {
    const double x = (*k)[static_cast<size_t>(c)];
    const double scale = op == "Mul"                  ? x
                         : op == "Div"                ? 1 / x
                         : op == "Sub" && !conv_first ? -1
                                                      : 1;
    const double shift = op == "Add" || (op == "Sub" && !conv_first) ? x : op == "Sub" ? -x : 0;
    a.scale.push_back(scale);
    a.shift.push_back(shift);
  }
  return a;
}

bool finite(const Tensor& t) {
  for (int64_t i = 0; i < t.count(); ++i) {
    if (!std::isfinite(t.as<float>()[i])) return false;
  }
  return true;
}

/// Puts the affine map into the weights; false where that can't be done.
Result<bool> fold(Rewriter& rewriter, size_t conv_at, const Affine& a, int64_t channels) {
  Node& conv = rewriter.node(conv_at);
  const Tensor& w = *rewriter.constant(conv.inputs[1]);
  const Tensor* b = conv.has_input(2) ? rewriter.constant(conv.inputs[2]) : nullptr;
  HASTEN_TRY(Tensor weights, Tensor::make(DType::kF32, w.dims()));
  HASTEN_TRY(Tensor bias, Tensor::make(DType::kF32, {channels}));
  const int64_t per = channels > 0 ? w.count() / channels : 0;
  for (int64_t c = 0; c < channels; ++c) {
    const double scale = a.scale[static_cast<size_t>(c)];
    for (int64_t i = c * per; i < (c + 1) * per; ++i) {
      weights.mutable_as<float>()[i] = static_cast<float>(w.as<float>()[i] * scale);
    }
    const double old = b != nullptr ? b->as<float>()[c] : 0;
    bias.mutable_as<float>()[c] = static_cast<float>(old * scale + a.shift[static_cast<size_t>(c)]);
  }
  if (!finite(weights) || !finite(bias)) return false;
  const std::string name = rewriter.graph().value(conv.outputs[0]).name;
  if (conv.inputs.size() < 3) conv.inputs.resize(3, kNoValue);
  rewriter.set_input(conv_at, 1, rewriter.new_constant(name + ".weight", std::move(weights)));
  rewriter.set_input(conv_at, 2, rewriter.new_constant(name + ".bias", std::move(bias)));
  return true;
}

/// A Conv whose weights may be changed; its output channels, else -1.
int64_t foldable_channels(const Rewriter& rewriter, const Node& conv) {
  if (!is_conv(conv) || !has_free_activation(conv) || conv.has_input(3)) return -1;
  const Tensor* w = rewriter.constant(conv.input(1));
  if (w == nullptr || w->dtype() != DType::kF32 || w->dims().empty()) return -1;
  if (conv.has_input(2)) {
    const Tensor* b = rewriter.constant(conv.inputs[2]);
    if (b == nullptr || b->dtype() != DType::kF32 || b->count() != w->dims()[0]) return -1;
  }
  return w->dims()[0];
}

Result<int> run(Graph& graph, PassContext&) {
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    Rewriter rewriter(graph, block);
    int changes = 0;
    for (size_t i = 0; i < rewriter.size(); ++i) {
      if (!rewriter.alive(i)) continue;
      const Node& node = rewriter.node(i);
      if (!node.domain.empty() || node.outputs.empty() || node.outputs[0] == kNoValue) continue;
      for (size_t k = 0; k < node.inputs.size() && k < 2; ++k) {
        const ValueId in = node.inputs[k];
        if (in == kNoValue || rewriter.single_user(in) != static_cast<int>(i)) continue;
        const int conv_at = rewriter.producer(in);
        if (conv_at < 0 || !rewriter.alive(static_cast<size_t>(conv_at))) continue;
        const Node& conv = rewriter.node(static_cast<size_t>(conv_at));
        const int64_t channels = foldable_channels(rewriter, conv);
        if (channels < 0 || !same_shape(graph, in, node.outputs[0])) continue;
        std::optional<Affine> affine;
        if (node.op == "BatchNormalization" && k == 0)
          affine = batch_norm(rewriter, node, channels);
        if (!affine && node.inputs.size() == 2) affine = arithmetic(rewriter, node, in, channels);
        if (!affine) continue;
        HASTEN_TRY(const bool folded,
                   fold(rewriter, static_cast<size_t>(conv_at), *affine, channels));
        if (!folded) continue;
        const ValueId out = node.outputs[0];
        rewriter.remove(i);
        rewriter.set_output(static_cast<size_t>(conv_at), 0, out);
        ++changes;
        break;
      }
    }
    rewriter.sweep();
    return changes;
  });
}

}  // namespace

extern const Pass pass_fuse_conv_scale;
const Pass pass_fuse_conv_scale = {
    "fuse_conv_scale", "Conv then BatchNormalization, Mul, Add … per channel -> Conv", run};

}  // namespace hasten
