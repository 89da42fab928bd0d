// https://onnx.ai/onnx/operators/onnx__Squeeze.html and onnx__Unsqueeze.html, opsets 1-21, every
// dtype. They cost nothing: the output is the input under other dims.
#include <algorithm>

#include "engine/ops/moves.h"
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

constexpr int64_t kAxesAreInput = 13;  // since that opset; an attribute before

/// What the node's axes are: absent, of unknown value, or known.
struct Axes {
  bool given = false;
  std::optional<std::vector<int64_t>> values;
};

Result<Axes> axes_of(const InferContext& c) {
  if (c.node().version < kAxesAreInput) {
    if (c.node().find_attr("axes") == nullptr) return Axes{};
    return Axes{true, c.node().attr_ints("axes")};
  }
  if (!c.has_in(1)) return Axes{};
  HASTEN_CHECK(check_int_operand(c, c.in(1), "axes", false));
  if (c.in(1).has_shape && c.in(1).rank() > 1) {
    return c.invalid("axes must be 1-D, they are {}", c.in(1).text());
  }
  return Axes{true, known_ints(c.in(1))};
}

Axes axes_of(const RefContext& c) {
  if (c.node().version < kAxesAreInput) {
    if (c.node().find_attr("axes") == nullptr) return Axes{};
    return Axes{true, c.node().attr_ints("axes")};
  }
  if (!c.has_in(1)) return Axes{};
  return Axes{true, read_ints(c.in(1))};
}

/// Without axes every dim of 1 goes; nullopt if a symbol leaves that open.
Result<std::optional<Shape>> squeezed(const OpContext& c, const Shape& in, const Axes& axes) {
  Shape out;
  if (!axes.given) {
    for (Dim d : in) {
      if (!d.known()) return std::nullopt;
      if (d != Dim(1)) out.push_back(d);
    }
    return out;
  }
  HASTEN_TRY(const std::vector<size_t> gone, resolve_axes(c, *axes.values, in.size()));
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::find(gone.begin(), gone.end(), i) == gone.end()) {
      out.push_back(in[i]);
    } else if (in[i].known() && in[i] != Dim(1)) {
      return c.invalid("axis {} of {} has {} elements, only axes of 1 can be squeezed", i,
                       shape_text(in), in[i].value());
    }
  }
  return out;
}

Result<Shape> unsqueezed(const OpContext& c, const Shape& in, std::span<const int64_t> axes) {
  HASTEN_TRY(const std::vector<size_t> added, resolve_axes(c, axes, in.size() + axes.size()));
  Shape out(in.size() + axes.size(), Dim(1));
  size_t next = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (std::find(added.begin(), added.end(), i) == added.end()) out[i] = in[next++];
  }
  return out;
}

Status infer_squeeze(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_TRY(const Axes axes, axes_of(c));
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  if (axes.given && !axes.values) {
    const auto n = list_length(c.in(1));
    if (n && *n <= static_cast<int64_t>(x.rank())) {
      c.set(0, x.dtype, fresh_shape(x.rank() - static_cast<size_t>(*n)));
    }
    return {};
  }
  HASTEN_TRY(std::optional<Shape> shape, squeezed(c, x.shape, axes));
  if (shape) c.set(0, x.dtype, std::move(*shape));
  return {};
}

Status infer_unsqueeze(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_TRY(const Axes axes, axes_of(c));
  c.set_unknown(0, x.dtype);
  if (!axes.given) return c.invalid("axes are missing");
  if (!x.has_shape) return {};
  if (!axes.values) {
    const auto n = list_length(c.in(1));
    if (n && *n <= 64) c.set(0, x.dtype, fresh_shape(x.rank() + static_cast<size_t>(*n)));
    return {};
  }
  HASTEN_TRY(Shape shape, unsqueezed(c, x.shape, *axes.values));
  c.set(0, x.dtype, std::move(shape));
  return {};
}

Status reshape_to(RefContext& c, const Shape& shape) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* out, c.out(0, x.dtype, to_dims(shape)));
  copy_elements(x.dtype, x.data, out, x.count());
  return {};
}

Status reference_squeeze(RefContext& c) {
  HASTEN_TRY(const std::optional<Shape> shape, squeezed(c, to_shape(c.in(0).dims), axes_of(c)));
  return reshape_to(c, *shape);
}

Status reference_unsqueeze(RefContext& c) {
  const Axes axes = axes_of(c);
  if (!axes.given) return c.invalid("axes are missing");
  HASTEN_TRY(const Shape shape, unsqueezed(c, to_shape(c.in(0).dims), *axes.values));
  return reshape_to(c, shape);
}

Status lower(LowerContext& c) {
  if (c.in(0).layout == Layout::kPlain && c.out(0).layout == Layout::kPlain) {
    c.alias(0);
  } else {
    c.refuse("alias", "a blocked layout");
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_squeeze() {
  OpDef squeeze{"",   "Squeeze", 1, 12, 1, 1, 1, 1, {"axes"}, infer_squeeze, reference_squeeze,
                lower};
  squeeze.moves_elements = true;
  OpDef squeeze13 = squeeze;
  squeeze13.since = 13;
  squeeze13.until = kLastOpset;
  squeeze13.max_inputs = 2;
  squeeze13.attrs = {};
  OpDef unsqueeze = squeeze;
  unsqueeze.name = "Unsqueeze";
  unsqueeze.infer = infer_unsqueeze;
  unsqueeze.reference = reference_unsqueeze;
  OpDef unsqueeze13 = unsqueeze;
  unsqueeze13.since = 13;
  unsqueeze13.until = kLastOpset;
  unsqueeze13.min_inputs = unsqueeze13.max_inputs = 2;
  unsqueeze13.attrs = {};
  return {squeeze, squeeze13, unsqueeze, unsqueeze13};
}

}  // namespace hasten
