// https://onnx.ai/onnx/operators/onnx__Expand.html, opsets 8-21, every dtype.
#include "engine/ops/elementwise.h"
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

/// The broadcast of the input with the target, which may be smaller in places.
Result<Shape> expanded(const OpContext& c, const Shape& in, std::span<const int64_t> target) {
  Shape to;
  for (int64_t d : target) {
    if (d < 0 && !Dim::is_symbol_code(d)) {
      return c.invalid("shape {} has the negative dimension {}", dims_text(target), d);
    }
    to.push_back(Dim::from_code(d));
  }
  auto shape = broadcast(in, to);
  if (!shape) return c.invalid("{}", shape.error().message);
  return *shape;
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &target = c.in(1);
  HASTEN_CHECK(check_int_list(c, target, "shape", false));
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  if (target.known_value()) {
    HASTEN_TRY(Shape shape, expanded(c, x.shape, *known_ints(target)));
    c.set(0, x.dtype, std::move(shape));
  } else if (const auto n = list_length(target); n && *n <= 64) {
    c.set(0, x.dtype, fresh_shape(std::max(x.rank(), static_cast<size_t>(*n))));
  }
  return {};
}

StridedBlock expanding(const Dims& in, const Dims& out) {
  return {out, broadcast_strides(in, out), row_major_strides(out)};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const Shape shape, expanded(c, to_shape(x.dims), read_ints(c.in(1))));
  if (!is_known(shape)) return c.unsupported("a shape that is not numbers yet");
  const Dims dims = to_dims(shape);
  HASTEN_TRY(void* out, c.out(0, x.dtype, dims));
  copy_block(x.dtype, x.data, out, expanding(x.dims, dims));
  return {};
}

Status lower(LowerContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims(0);
  const bool plain = c.in(0).layout == Layout::kPlain && c.out(0).layout == Layout::kPlain;
  if (plain && count_of(in) == count_of(out)) {
    c.alias(0);
    return {};
  }
  if (!plain_numbers(c, "copy")) return {};
  CopyPlan plan;
  plan.add(0, 0, expanding(in, out), static_cast<int64_t>(dtype_size(c.in(0).dtype)));
  plan.lower(c);
  return {};
}

}  // namespace

std::vector<OpDef> ops_expand() {
  OpDef def{"", "Expand", 8, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower};
  def.moves_elements = true;
  return {def};
}

}  // namespace hasten
