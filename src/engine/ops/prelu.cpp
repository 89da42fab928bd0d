// https://onnx.ai/onnx/operators/onnx__PRelu.html, opsets 7-21, floats and the integers of 32 and
// 64 bits. The slope broadcasts to the input, not the other way.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(infer_broadcast(c, kNumbers));
  const Facts& x = c.in(0);
  if (!x.has_shape) return {};
  if (c.out(0).has_shape && c.out(0).shape.size() != x.shape.size()) {
    return c.invalid("slope {} does not broadcast to the input {}", shape_text(c.in(1).shape),
                     shape_text(x.shape));
  }
  if (c.out(0).has_shape && is_known(x.shape) && c.out(0).shape != x.shape) {
    return c.invalid("slope {} does not broadcast to the input {}", shape_text(c.in(1).shape),
                     shape_text(x.shape));
  }
  c.set(0, c.out(0).dtype, x.shape);
  return {};
}

Status reference(RefContext& c) {
  return reference_numbers(c,
                           [](auto x, auto slope) { return x < 0 ? WrappingMul()(x, slope) : x; });
}

Status lower(LowerContext& c) {
  return lower_broadcast(c, {{DType::kF32, "prelu_f32", c.kernels().prelu_f32}});
}

}  // namespace

std::vector<OpDef> ops_prelu() {
  return {{"", "PRelu", 7, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
