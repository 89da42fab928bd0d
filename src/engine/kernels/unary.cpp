// Element-wise functions of one operand.
#include "engine/kernels/unary.h"
#include "engine/kernels/elementwise_args.h"
#include "engine/kernels/math.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

HASTEN_INLINE F16 sign(F16 x) {
  const F16 one = copysign(set1(1.0f), x);
  return select(either(lt(x, set1(0.0f)), lt(set1(0.0f), x)), one,
                select(is_nan(x), x, set1(0.0f)));
}
HASTEN_INLINE F16 shrink(F16 x, float lambd, float bias) {
  const F16 above = select(lt(set1(lambd), x), sub(x, set1(bias)), set1(0.0f));
  return select(lt(x, set1(-lambd)), add(x, set1(bias)), above);
}

}  // namespace

HASTEN_UNARY(relu_f32, relu(x))
HASTEN_UNARY(leaky_relu_f32, leaky_relu(x, alpha))
HASTEN_UNARY(clip_f32, clip(x, alpha, beta))
HASTEN_UNARY(sigmoid_f32, sigmoid(x))
HASTEN_UNARY(hard_sigmoid_f32, hard_sigmoid(x, alpha, beta))
HASTEN_UNARY(hard_swish_f32, hard_swish(x))
HASTEN_UNARY(tanh_f32, tanh(x))
HASTEN_UNARY(exp_f32, exp(x))
HASTEN_UNARY(log_f32, log(x))
HASTEN_UNARY(sqrt_f32, sqrt(x))
HASTEN_UNARY(reciprocal_f32, div(set1(1.0f), x))
HASTEN_UNARY(erf_f32, erf(x))
HASTEN_UNARY(abs_f32, abs(x))
HASTEN_UNARY(neg_f32, neg(x))
HASTEN_UNARY(floor_f32, floor(x))
HASTEN_UNARY(ceil_f32, ceil(x))
HASTEN_UNARY(round_f32, round(x))
HASTEN_UNARY(sign_f32, sign(x))
HASTEN_UNARY(softplus_f32, softplus(x))
HASTEN_UNARY(gelu_f32, gelu(x))
HASTEN_UNARY(gelu_tanh_f32, gelu_tanh(x))
/// alpha (e^x - 1) below zero, beta x above.
HASTEN_UNARY(elu_f32, select(lt(x, set1(0.0f)), mul(set1(alpha), expm1(x)), mul(set1(beta), x)))
HASTEN_UNARY(shrink_f32, shrink(x, alpha, beta))

}  // namespace HASTEN_NS
}  // namespace hasten
