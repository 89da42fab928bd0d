// https://onnx.ai/onnx/operators/onnx__HardSigmoid.html, opsets 6-21, floats.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

float alpha_of(const OpContext& c) { return c.node().attr_float("alpha", 0.2f); }
float beta_of(const OpContext& c) { return c.node().attr_float("beta", 0.5f); }

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  const double alpha = alpha_of(c), beta = beta_of(c);
  return reference_float_unary(c, [=](double x) {
    const double y = alpha * x + beta;
    return y < 0 ? 0 : y > 1 ? 1 : y;
  });
}

Status lower(LowerContext& c) {
  return lower_unary(c, "hard_sigmoid_f32", c.kernels().hard_sigmoid_f32, alpha_of(c), beta_of(c),
                     4);
}

}  // namespace

std::vector<OpDef> ops_hard_sigmoid() {
  return unary_ops(
      {{"", "HardSigmoid", 6, kLastOpset, 1, 1, 1, 1, {"alpha", "beta"}, infer, reference, lower}});
}

}  // namespace hasten
