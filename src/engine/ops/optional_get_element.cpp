// https://onnx.ai/onnx/operators/onnx__OptionalGetElement.html, opsets 15-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  if (x.dtype == DType::kOptional) {
    if (x.known_shape() && x.shape[0].value() == 0) return c.invalid("the optional value is empty");
    c.set_unknown(0, x.element);
    return {};
  }
  set_like(c, x);
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  if (x.dtype != DType::kOptional) {
    return put(c, 0, Tensor::borrow(x.dtype, x.dims, x.data, nullptr));
  }
  if (x.count() == 0) return c.invalid("the optional value is empty");
  return put(c, 0, *x.as<Tensor>());
}

}  // namespace

std::vector<OpDef> ops_optional_get_element() {
  return {sequence_op("OptionalGetElement", 15, kLastOpset, 1, 1, {}, infer, reference)};
}

}  // namespace hasten
