// https://onnx.ai/onnx/operators/onnx__ConstantOfShape.html, opsets 9-21, every number and bool.
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

/// The one element; a float zero if the attribute is absent.
Result<Tensor> element_of(const OpContext& c) {
  const Attr* attr = c.node().find_attr("value");
  if (attr == nullptr) return Tensor::make(DType::kF32, {1});
  const Tensor* value = std::get_if<Tensor>(attr);
  if (value == nullptr || value->empty()) return c.invalid("attribute 'value' is not a tensor");
  if (value->count() != 1) {
    return c.invalid("attribute 'value' has the shape {}, it must be one element",
                     dims_text(value->dims()));
  }
  if (value->dtype() == DType::kString) return c.unsupported("a tensor of strings");
  return *value;
}

Result<Shape> shape_of(const OpContext& c, std::span<const int64_t> dims) {
  Shape shape;
  for (int64_t d : dims) {
    if (d < 0 && !Dim::is_symbol_code(d)) {
      return c.invalid("shape {} has the negative dimension {}", dims_text(dims), d);
    }
    shape.push_back(Dim::from_code(d));
  }
  return shape;
}

Status infer(InferContext& c) {
  const Facts& dims = c.in(0);
  HASTEN_CHECK(check_int_list(c, dims, "the shape", false));
  HASTEN_TRY(const Tensor element, element_of(c));
  c.set_unknown(0, element.dtype());
  if (const auto known = known_ints(dims)) {
    HASTEN_TRY(Shape shape, shape_of(c, *known));
    c.set(0, element.dtype(), std::move(shape));
  } else if (const auto n = list_length(dims); n && *n <= 64) {
    c.set(0, element.dtype(), fresh_shape(static_cast<size_t>(*n)));
  }
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(const Tensor element, element_of(c));
  HASTEN_TRY(const Shape shape, shape_of(c, read_ints(c.in(0))));
  if (!is_known(shape)) return c.unsupported("a shape that is not numbers yet");
  const Dims dims = to_dims(shape);
  HASTEN_TRY(void* out, c.out(0, element.dtype(), dims));
  copy_block(element.dtype(), element.data(), out, {{count_of(dims)}, {0}, {1}});
  return {};
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const Tensor element, element_of(c));
  CopyPlan plan;
  plan.add_fill(element.data(), static_cast<int64_t>(dtype_size(element.dtype())), 0,
                count_of(c.out_dims(0)));
  plan.lower(c);
  return {};
}

}  // namespace

std::vector<OpDef> ops_constant_of_shape() {
  return {{"", "ConstantOfShape", 9, kLastOpset, 1, 1, 1, 1, {"value"}, infer, reference, lower}};
}

}  // namespace hasten
