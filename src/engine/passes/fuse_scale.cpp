#include <algorithm>
#include <cmath>

#include "engine/passes/fuse_into.h"

namespace hasten {

namespace {

struct Affine {
  std::vector<double> scale, shift;  // y = scale * x + shift, by channel
  bool only_shifts() const {
    return std::all_of(scale.begin(), scale.end(), [](double s) { return s == 1; });
  }
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

std::optional<Affine> arithmetic(const Rewriter& rewriter, const Node& node, ValueId product,
                                 size_t rank, size_t axis, int64_t channels) {
  const std::string& op = node.op;
  if (op != "Mul" && op != "Div" && op != "Add" && op != "Sub") return std::nullopt;
  const bool product_first = node.inputs[0] == product;
  if (op == "Div" && !product_first) return std::nullopt;
  const Tensor* t = rewriter.constant(node.inputs[product_first ? 1 : 0]);
  if (t == nullptr) return std::nullopt;
  const auto k = per_channel(*t, rank, axis, channels);
  if (!k) return std::nullopt;
  Affine a;
  for (int64_t c = 0; c < channels; ++c) {
    const double x = (*k)[static_cast<size_t>(c)];
    const double scale = op == "Mul"                     ? x
                         : op == "Div"                   ? 1 / x
                         : op == "Sub" && !product_first ? -1
                                                         : 1;
    const double shift = op == "Add" || (op == "Sub" && !product_first) ? x : op == "Sub" ? -x : 0;
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

/// Puts the affine map into weights and bias, which are constants; false where that can't be done.
Result<bool> fold(Rewriter& rewriter, const Host& host, size_t at, const Affine& a,
                  const Channels& channels) {
  HASTEN_TRY(Node form, host.form(rewriter, rewriter.node(at)));
  const Tensor& w = *rewriter.constant(form.inputs[1]);
  const Tensor* b = form.has_input(2) ? rewriter.constant(form.inputs[2]) : nullptr;
  HASTEN_TRY(Tensor bias, Tensor::make(DType::kF32, {channels.count}));
  for (int64_t c = 0; c < channels.count; ++c) {
    const double old = b != nullptr ? b->as<float>()[c] : 0;
    bias.mutable_as<float>()[c] =
        static_cast<float>(old * a.scale[static_cast<size_t>(c)] + a.shift[static_cast<size_t>(c)]);
  }
  if (!finite(bias)) return false;
  Tensor weights;
  if (!a.only_shifts()) {
    HASTEN_TRY(weights, Tensor::make(DType::kF32, w.dims()));
    const float* from = w.as<float>();
    float* to = weights.mutable_as<float>();
    for (int64_t i = 0; i < w.count();) {
      for (int64_t c = 0; c < channels.count; ++c) {
        const double scale = a.scale[static_cast<size_t>(c)];
        for (const int64_t end = i + channels.inner; i < end; ++i) {
          to[i] = static_cast<float>(from[i] * scale);
        }
      }
    }
    if (!finite(weights)) return false;
  }
  const std::string name = rewriter.value(form.outputs[0]).name;
  Node& node = rewriter.node(at);
  form.inputs = node.inputs;  // the counts of uses are those of the node as it was
  form.inputs.resize(std::max<size_t>(form.inputs.size(), 3), kNoValue);
  node = std::move(form);
  if (!weights.empty()) {
    rewriter.set_input(at, 1, rewriter.new_constant(name + ".weight", std::move(weights)));
  }
  rewriter.set_input(at, 2, rewriter.new_constant(name + ".bias", std::move(bias)));
  return true;
}

/// May weights and bias be changed?
bool has_constants(const Rewriter& rewriter, const Node& node, int64_t channels) {
  const Tensor* w = rewriter.constant(node.input(1));
  if (w == nullptr || w->dtype() != DType::kF32 || node.has_input(3)) return false;
  if (!node.has_input(2)) return true;
  const Tensor* b = rewriter.constant(node.inputs[2]);
  return b != nullptr && b->dtype() == DType::kF32 && per_channel(*b, 2, 1, channels);
}

}  // namespace

Result<int> fuse_scale(Graph& graph, const Host& host, const ChannelsOf& channels_of) {
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    Rewriter rewriter(graph, block);
    int changes = 0;
    for (size_t i = 0; i < rewriter.size(); ++i) {
      if (!rewriter.alive(i)) continue;
      const Node& node = rewriter.node(i);
      if (!node.domain.empty() || node.outputs.empty() || node.outputs[0] == kNoValue) continue;
      for (size_t k = 0; k < node.inputs.size() && k < 2; ++k) {
        const ValueId in = node.inputs[k];
        const int at = host_of(rewriter, host, i, in);
        if (at < 0 || !same_shape(graph, in, node.outputs[0])) continue;
        const Node& made_by = rewriter.node(static_cast<size_t>(at));
        const auto channels = channels_of(rewriter, made_by);
        if (!channels || !has_constants(rewriter, made_by, channels->count)) continue;
        const size_t rank = graph.value(in).shape.size();
        const size_t axis = channels->last_axis ? rank - 1 : 1;
        std::optional<Affine> affine;
        if (node.op == "BatchNormalization" && k == 0 && axis == 1)
          affine = batch_norm(rewriter, node, channels->count);
        if (!affine && node.inputs.size() == 2)
          affine = arithmetic(rewriter, node, in, rank, axis, channels->count);
        if (!affine) continue;
        HASTEN_TRY(const bool folded,
                   fold(rewriter, host, static_cast<size_t>(at), *affine, *channels));
        if (!folded) continue;
        const ValueId out = node.outputs[0];
        rewriter.remove(i);
        rewriter.set_output(static_cast<size_t>(at), 0, out);
        ++changes;
        break;
      }
    }
    rewriter.sweep();
    return changes;
  });
}

}  // namespace hasten
