// https://onnx.ai/onnx/operators/onnx__Flatten.html, opsets 1-21, every dtype. Costs nothing.
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Result<Shape> flattened(const OpContext& c, const Shape& in) {
  const auto rank = static_cast<int64_t>(in.size());
  int64_t axis = c.node().attr_int("axis", 1);
  if (axis < -rank || axis > rank) {
    return c.invalid("axis {} is outside [{}, {}] of a tensor of rank {}", axis, -rank, rank, rank);
  }
  if (axis < 0) axis += rank;
  const std::span<const Dim> dims(in);
  HASTEN_TRY(const Dim rows, dim_product(c, dims.first(static_cast<size_t>(axis))));
  HASTEN_TRY(const Dim columns, dim_product(c, dims.subspan(static_cast<size_t>(axis))));
  return Shape{rows, columns};
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  if (!x.has_shape) {
    c.set(0, x.dtype, fresh_shape(2));
    return {};
  }
  HASTEN_TRY(Shape shape, flattened(c, x.shape));
  c.set(0, x.dtype, std::move(shape));
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const Shape shape, flattened(c, to_shape(x.dims)));
  HASTEN_TRY(void* out, c.out(0, x.dtype, to_dims(shape)));
  copy_elements(x.dtype, x.data, out, x.count());
  return {};
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

std::vector<OpDef> ops_flatten() {
  OpDef def{"", "Flatten", 1, kLastOpset, 1, 1, 1, 1, {"axis"}, infer, reference, lower};
  def.moves_elements = true;
  return {def};
}

}  // namespace hasten
