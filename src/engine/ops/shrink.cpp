// https://onnx.ai/onnx/operators/onnx__Shrink.html, opsets 9-21, all numbers. Between -lambd and
// lambd everything is 0; so is NaN, which is neither below nor above.
#include <type_traits>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

float lambd_of(const OpContext& c) { return c.node().attr_float("lambd", 0.5f); }
float bias_of(const OpContext& c) { return c.node().attr_float("bias", 0.0f); }

Status infer(InferContext& c) { return infer_unary(c, kNumbers); }

Status reference(RefContext& c) {
  const float lambd = lambd_of(c), bias = bias_of(c);
  return reference_unary(c, [=](auto x) {
    using T = decltype(x);
    // Integers meet lambd and bias, which are floats, in double.
    using C = std::conditional_t<std::is_integral_v<T>, double, T>;
    const C v = static_cast<C>(x), edge = static_cast<C>(lambd), b = static_cast<C>(bias);
    const bool below = v<-edge, above = v> edge;
    if (!below && !above) return T{0};
    if (b == C{0}) return x;  // exact, also where double has too few bits
    return convert_number<T>(below ? v + b : v - b);
  });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "shrink_f32", c.kernels().shrink_f32, lambd_of(c), bias_of(c), 4);
}

}  // namespace

std::vector<OpDef> ops_shrink() {
  return unary_ops(
      {{"", "Shrink", 9, kLastOpset, 1, 1, 1, 1, {"lambd", "bias"}, infer, reference, lower}});
}

}  // namespace hasten
