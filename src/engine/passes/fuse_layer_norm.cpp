// Layer normalization as exporters write it.
//
//   %m = ReduceMean(%x); %d = Sub(%x, %m); %p = Pow(%d, 2); %v = ReduceMean(%p)
//   %e = Add(%v, eps); %s = Sqrt(%e); %n = Div(%d, %s); %k = Mul(%n, scale); %y = Add(%k, shift)
//       ->   %y = LayerNormalization(%x, scale, shift) {axis, epsilon=eps}
//
// Mul(%d, %d) for Pow, Mul by Reciprocal for Div; without shift, or without both (then the scale is
// ones). Only over the last axes, kept; f32; scale and shift of exactly the normalized dims; where
// nobody else reads what lies between. Sums run in another order: outputs agree within 1e-5 of
// their scale.
#include <algorithm>
#include <numeric>

#include "engine/passes/pass.h"
#include "engine/passes/patterns.h"

namespace hasten {

namespace {

/// A mean over the last axes that keeps them as ones: the first of them; -1 where it is another.
int64_t last_axes(const Rewriter& rewriter, const Node& mean) {
  const Value& x = rewriter.value(mean.inputs[0]);
  if (!x.has_shape || mean.attr_int("keepdims", 1) != 1) return -1;
  const auto rank = static_cast<int64_t>(x.shape.size());
  std::vector<int64_t> axes = mean.attr_ints("axes");
  if (const Tensor* t = rewriter.constant(mean.input(1)); t && t->dtype() == DType::kI64) {
    axes.assign(t->as<int64_t>(), t->as<int64_t>() + t->count());
  }
  if (axes.empty()) return -1;
  for (int64_t& a : axes) a += a < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  std::vector<int64_t> last(axes.size());
  std::iota(last.begin(), last.end(), rank - static_cast<int64_t>(axes.size()));
  return axes == last ? axes[0] : -1;
}

struct Norm {
  std::vector<size_t> nodes;  // the root first
  ValueId x = kNoValue;
  int64_t axis = 0;
  float epsilon = 0;
};

/// The nodes up to a normalized value without scale, from its Div or Mul on.
std::optional<Norm> match_norm(const Rewriter& rewriter, size_t root) {
  Norm n;
  const auto take = [&](ValueId id, const char* op) -> const Node* {
    const int at = producer_of(rewriter, id, op);
    if (at < 0) return nullptr;
    n.nodes.push_back(static_cast<size_t>(at));
    return &rewriter.node(static_cast<size_t>(at));
  };
  const Node& top = rewriter.node(root);
  n.nodes.push_back(root);
  ValueId centred = kNoValue, deviation = kNoValue;
  if (top.op == "Div") {
    centred = top.inputs[0];
    deviation = top.inputs[1];
  } else {
    for (size_t k = 0; k < 2; ++k) {
      const int at = producer_of(rewriter, top.inputs[k], "Reciprocal");
      if (at < 0) continue;
      n.nodes.push_back(static_cast<size_t>(at));
      deviation = rewriter.node(static_cast<size_t>(at)).inputs[0];
      centred = top.inputs[1 - k];
    }
  }
  const Node* sqrt = take(deviation, "Sqrt");
  const Node* add = sqrt ? take(sqrt->inputs[0], "Add") : nullptr;
  if (add == nullptr) return std::nullopt;
  const size_t constant = rewriter.constant(add->inputs[0]) != nullptr ? 0 : 1;
  if (!rewriter.scalar(add->inputs[constant], &n.epsilon)) return std::nullopt;
  const Node* variance = take(add->inputs[1 - constant], "ReduceMean");
  if (variance == nullptr) return std::nullopt;
  const ValueId square = variance->inputs[0];
  const Node* power = take(square, "Pow");
  if (power == nullptr) power = take(square, "Mul");
  if (power == nullptr || power->inputs[0] != centred) return std::nullopt;
  if (power->op == "Pow" ? !is_number(rewriter, power->inputs[1], 2) : power->inputs[1] != centred)
    return std::nullopt;
  const Node* sub = take(centred, "Sub");
  const Node* mean = sub ? take(sub->inputs[1], "ReduceMean") : nullptr;
  if (mean == nullptr || mean->inputs[0] != sub->inputs[0]) return std::nullopt;
  n.x = sub->inputs[0];
  n.axis = last_axes(rewriter, *mean);
  if (n.axis < 0 || last_axes(rewriter, *variance) != n.axis) return std::nullopt;
  if (rewriter.value(n.x).dtype != DType::kF32) return std::nullopt;
  return n;
}

/// Has it exactly the normalized dims of x?
bool is_parameter(const Rewriter& rewriter, ValueId id, const Norm& norm) {
  if (id == kNoValue) return false;
  const Value &v = rewriter.value(id), &x = rewriter.value(norm.x);
  return v.dtype == DType::kF32 && v.has_shape && is_known(v.shape) &&
         v.shape == Shape(x.shape.begin() + norm.axis, x.shape.end());
}

/// The only reader of a value if it is that operator, and what else it reads.
int reader(const Rewriter& rewriter, ValueId id, const char* op, ValueId* other) {
  const int at = rewriter.single_user(id);
  if (at < 0) return -1;
  const Node& node = rewriter.node(static_cast<size_t>(at));
  if (!node.domain.empty() || node.op != op) return -1;
  *other = other_input(node, id);
  return at;
}

Result<ValueId> make_ones(Rewriter& rewriter, const Norm& norm) {
  const Value& x = rewriter.value(norm.x);
  const Dims dims = to_dims(Shape(x.shape.begin() + norm.axis, x.shape.end()));
  HASTEN_TRY(Tensor ones, Tensor::make(DType::kF32, dims));
  std::fill_n(ones.mutable_as<float>(), ones.count(), 1.0f);
  return rewriter.new_constant(x.name + ".ones", std::move(ones));
}

Result<bool> fuse_at(Rewriter& rewriter, size_t root) {
  const Node& top = rewriter.node(root);
  if (!rewriter.alive(root) || !top.domain.empty() || (top.op != "Div" && top.op != "Mul") ||
      top.inputs.size() != 2) {
    return false;
  }
  std::optional<Norm> norm = match_norm(rewriter, root);
  if (!norm) return false;
  ValueId scale = kNoValue, shift = kNoValue;
  int last = static_cast<int>(root);
  const int mul = reader(rewriter, top.outputs[0], "Mul", &scale);
  if (mul >= 0 && is_parameter(rewriter, scale, *norm)) {
    last = mul;
    norm->nodes.insert(norm->nodes.begin(), static_cast<size_t>(mul));
    const ValueId scaled = rewriter.node(static_cast<size_t>(mul)).outputs[0];
    const int add = reader(rewriter, scaled, "Add", &shift);
    if (add >= 0 && is_parameter(rewriter, shift, *norm)) {
      last = add;
      norm->nodes.insert(norm->nodes.begin(), static_cast<size_t>(add));
    } else {
      shift = kNoValue;
    }
  } else {
    const Value& x = rewriter.value(norm->x);
    if (!is_known(Shape(x.shape.begin() + norm->axis, x.shape.end()))) return false;
    HASTEN_TRY(scale, make_ones(rewriter, *norm));
  }
  const Node& result = rewriter.node(static_cast<size_t>(last));
  std::vector<ValueId> inputs = {norm->x, scale};
  if (shift != kNoValue) inputs.push_back(shift);
  Node node = onnx_node(result, "LayerNormalization", 17, std::move(inputs));
  node.set_attr("axis", norm->axis);
  node.set_attr("epsilon", norm->epsilon);
  return replace_nodes(rewriter, std::move(norm->nodes), std::move(node));
}

Result<int> run(Graph& graph, PassContext&) { return fuse_each(graph, fuse_at); }

}  // namespace

extern const Pass pass_fuse_layer_norm;
const Pass pass_fuse_layer_norm = {
    "fuse_layer_norm", "(x - mean) / Sqrt(variance + eps) * scale + shift -> LayerNormalization",
    run, 1e-5};

}  // namespace hasten
