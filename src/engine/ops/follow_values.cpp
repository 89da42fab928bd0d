#include "engine/ops/follow_values.h"

#include <optional>
#include <utility>

#include "engine/ops/elementwise.h"
#include "engine/ops/shape_math.h"
#include "engine/ops/work.h"

namespace hasten {

namespace {

constexpr double kMaxFollowedSteps = 1e7;

bool holds_symbols(const Facts& facts) {
  return facts.dtype == DType::kI64 &&
         has_symbols({facts.value.as<int64_t>(), static_cast<size_t>(facts.value.count())});
}

/// May the operator's reference see symbol codes in this input? It must copy them blindly: never
/// compare, index or compute with them.
bool may_hold_symbols(const Node& node, size_t input) {
  if (!node.def->moves_elements) return false;
  if (node.op == "Concat") return true;
  if (node.op == "Where") return input > 0;
  if (node.op == "ScatterElements" || node.op == "ScatterND") return input != 1;
  return input == 0;
}

/// One element of integer arithmetic or comparison (0 or 1) with at least one symbol. Nothing where
/// it isn't known, or may be negative: symbols stand for sizes. The same expression gives the same
/// symbol.
std::optional<int64_t> symbolic(const std::string& op, int64_t a, int64_t b) {
  const bool sa = Dim::is_symbol_code(a), sb = Dim::is_symbol_code(b);
  if (op == "Equal") {
    if (a == b) return 1;
    if ((!sa && a < 0) || (!sb && b < 0)) return 0;
    return std::nullopt;
  }
  if ((!sa && a < 0) || (!sb && b < 0)) return std::nullopt;
  const char* sign = "";
  if (op == "Add") {
    if (a == 0) return b;
    if (b == 0) return a;
    if (a > b) std::swap(a, b);
    sign = "+";
  } else if (op == "Mul") {
    if (a == 0 || b == 0) return 0;
    if (a == 1) return b;
    if (b == 1) return a;
    if (a > b) std::swap(a, b);
    sign = "*";
  } else if (op == "Div") {
    if (b == 1) return a;
    if (b == 0) return std::nullopt;
    sign = "/";
  } else {
    if (b == 0) return a;
    if (a == b) return 0;
    return std::nullopt;
  }
  const std::string text =
      fmt::format("({}{}{})", Dim::from_code(a).text(), sign, Dim::from_code(b).text());
  return Dim::symbol(text).code();
}

/// One element without symbols; nothing where it isn't defined.
std::optional<int64_t> plain(const std::string& op, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  if (op == "Equal") return a == b;
  if (op == "Add") return static_cast<int64_t>(ua + ub);
  if (op == "Sub") return static_cast<int64_t>(ua - ub);
  if (op == "Mul") return static_cast<int64_t>(ua * ub);
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  return a / b;
}

bool is_symbolic_op(const Node& node) {
  return node.domain.empty() && (node.op == "Add" || node.op == "Sub" || node.op == "Mul" ||
                                 node.op == "Div" || node.op == "Equal");
}

/// Those operators on int64 sizes, some of them symbols; all elements or none.
void follow_symbols(const Node& node, const Facts& a, const Facts& b, Facts& out) {
  if (a.dtype != DType::kI64 || b.dtype != DType::kI64) return;
  const Dims dims = to_dims(out.shape);
  auto made = Tensor::make(out.dtype, dims);
  if (!made) return;
  const int64_t *pa = a.value.as<int64_t>(), *pb = b.value.as<int64_t>();
  bool ok = true;
  for_each_broadcast(dims, broadcast_strides(a.value.dims(), dims),
                     broadcast_strides(b.value.dims(), dims), [&](int64_t i, int64_t x, int64_t y) {
                       const bool symbol = Dim::is_symbol_code(pa[x]) || Dim::is_symbol_code(pb[y]);
                       const auto r =
                           symbol ? symbolic(node.op, pa[x], pb[y]) : plain(node.op, pa[x], pb[y]);
                       ok = ok && r.has_value();
                       if (out.dtype == DType::kBool) {
                         made->mutable_as<bool>()[i] = r.value_or(0) != 0;
                       } else {
                         made->mutable_as<int64_t>()[i] = r.value_or(0);
                       }
                     });
  if (ok) out.value = std::move(*made);
}

/// The plain loops of the operator, with outputs of at most kMaxKnownElements.
Result<std::vector<Tensor>> run_reference(const Node& node, std::span<const Tensor> inputs,
                                          bool& too_large) {
  std::vector<TensorView> views;
  views.reserve(inputs.size());
  for (const Tensor& t : inputs) views.push_back(t.view());
  std::vector<Tensor> outputs(node.outputs.size());
  RefContext context(node, views, [&](size_t i, DType dtype, const Dims& dims) -> Result<void*> {
    HASTEN_TRY(const int64_t count, checked_count(dims));
    if (count > kMaxKnownElements || i >= outputs.size()) {
      too_large = true;
      return fail(Code::kUnsupported, "too large to follow");
    }
    HASTEN_TRY(outputs[i], Tensor::make(dtype, dims));
    return outputs[i].mutable_data();
  });
  HASTEN_CHECK(node.def->reference(context));
  return outputs;
}

Status take(const Node& node, std::vector<Tensor> tensors, std::span<Facts> out, bool constant) {
  for (size_t i = 0; i < out.size() && i < tensors.size(); ++i) {
    if (tensors[i].empty() || node.outputs[i] == kNoValue) continue;
    const Shape shape = to_shape(tensors[i].dims());
    if (out[i].dtype != tensors[i].dtype() || (out[i].known_shape() && out[i].shape != shape)) {
      return fail(Code::kInternal, "{}: output {} was inferred as {}, but is {}{}", node.label(), i,
                  out[i].text(), dtype_name(tensors[i].dtype()), shape_text(shape));
    }
    out[i].has_shape = true;
    out[i].shape = shape;
    out[i].value = std::move(tensors[i]);
    out[i].constant = constant;
  }
  return {};
}

}  // namespace

Status follow_values(const Node& node, std::span<const Facts* const> in, std::span<Facts> out,
                     const Evaluator& evaluate) {
  if (node.def->impure || node.def->reference == nullptr || !node.blocks.empty()) return {};
  // What it makes may lie in another layout; known elements are plain.
  if (node.op == "Reorder" && node.domain == "hasten") return {};
  bool symbols = false, followable = true, constant = true;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool absent = in[i] == nullptr || in[i]->dtype == DType::kNone;
    inputs.push_back(absent ? Tensor() : in[i]->value);
    if (absent) continue;
    if (!in[i]->known_value() || in[i]->value.count() > kMaxKnownElements ||
        in[i]->layout != Layout::kPlain) {
      return {};
    }
    constant = constant && in[i]->constant;
    if (holds_symbols(*in[i])) {
      symbols = true;
      followable = followable && may_hold_symbols(node, i);
    }
  }
  bool all_known = true, all_shapes = true;
  for (size_t i = 0; i < out.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    all_known = all_known && out[i].known_value();
    all_shapes = all_shapes && out[i].known_shape();
    if (out[i].known_shape() && count_of(to_dims(out[i].shape)) > kMaxKnownElements) return {};
  }
  if (all_known) return {};
  // Small inputs can still be much work: Einsum "a,b,c,d->".
  const double steps = loop_steps(
      node,
      [&](size_t i) {
        return i < inputs.size() && !inputs[i].empty() ? std::optional(inputs[i].dims())
                                                       : std::nullopt;
      },
      !out.empty() && out[0].known_shape() ? std::optional(to_dims(out[0].shape)) : std::nullopt);
  if (steps > kMaxFollowedSteps) return {};
  if (symbols && !followable) {
    if (!all_shapes || in.empty()) return {};
    if (is_symbolic_op(node)) {
      follow_symbols(node, *in[0], *in[1], out[0]);
    } else if (node.op == "Cast" && node.domain.empty() && in[0]->dtype == out[0].dtype) {
      out[0].value = in[0]->value;
    }
    return {};
  }
  if (makes_no_elements(node, out)) {
    HASTEN_TRY(std::vector<Tensor> tensors, make_outputs(node, out));
    return take(node, std::move(tensors), out, constant);
  }
  if (!symbols && all_shapes && evaluate) {
    HASTEN_TRY(std::vector<Tensor> tensors, evaluate(node, inputs));
    return take(node, std::move(tensors), out, constant);
  }
  bool too_large = false;
  auto tensors = run_reference(node, inputs, too_large);
  if (!tensors) return symbols || too_large ? Status() : fail(std::move(tensors.error()));
  return take(node, std::move(*tensors), out, constant);
}

}  // namespace hasten
