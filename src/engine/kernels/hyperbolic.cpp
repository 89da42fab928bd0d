// Hyperbolic functions and their inverses, over all floats. Errors are the largest found, in units
// of the last place (tests/kernels/math_test.cpp).
#include "engine/kernels/elementwise_args.h"
#include "engine/kernels/math.h"
#include "engine/kernels/unary.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

constexpr float kHalf = 0.5f;

/// e^a / 2 where e^a alone might not fit.
HASTEN_INLINE F16 half_exp(F16 a) {
  const F16 root = exp(mul(a, set1(kHalf)));
  return mul(mul(root, set1(kHalf)), root);
}

/// 3 ulp.
HASTEN_INLINE F16 sinh(F16 x) {
  const F16 a = abs(x), most = set1(88.0f);
  const F16 e = expm1(at_most(most, a));
  const F16 y = mul(add(e, div(e, add(e, set1(1.0f)))), set1(kHalf));
  return copysign(select(is_nan(x), x, select(lt(most, a), half_exp(a), y)), x);
}
/// 3 ulp.
HASTEN_INLINE F16 cosh(F16 x) {
  const F16 a = abs(x), most = set1(88.0f);
  const F16 e = exp(at_most(most, a));
  const F16 y = fma(e, set1(kHalf), div(set1(kHalf), e));
  return select(is_nan(x), x, select(lt(most, a), half_exp(a), y));
}

/// log(1 + x), x > -1 and finite.
HASTEN_INLINE F16 log1p(F16 x) { return log1p_unit(x); }

/// Above this the 1 in sqrt(x^2 + 1) is lost.
constexpr float kLarge = 4096.0f;
HASTEN_INLINE F16 log_twice(F16 a) {
  return add(add(log(a), set1(-1.904654212e-09f)), set1(0.6931471825f));
}

/// 3 ulp.
HASTEN_INLINE F16 asinh(F16 x) {
  const F16 a = abs(x), one = set1(1.0f);
  const F16 square = mul(a, a);
  const F16 small = log1p(add(a, div(square, add(one, sqrt(add(one, square))))));
  return copysign(select(is_nan(x), x, select(lt(set1(kLarge), a), log_twice(a), small)), x);
}
/// 3 ulp; NaN below 1.
HASTEN_INLINE F16 acosh(F16 x) {
  const F16 one = set1(1.0f), t = sub(x, one);
  const F16 small = log1p(add(t, sqrt(fma(t, t, add(t, t)))));
  const F16 y = select(lt(set1(kLarge), x), log_twice(x), small);
  return select(lt(x, one), set1(NAN), select(is_nan(x), x, y));
}
/// 3 ulp; NaN outside [-1, 1].
HASTEN_INLINE F16 atanh(F16 x) {
  const F16 a = abs(x), one = set1(1.0f);
  const F16 y = mul(log1p(div(add(a, a), sub(one, a))), set1(kHalf));
  const F16 bounded = select(eq(a, one), set1(HUGE_VALF), y);
  return copysign(select(lt(one, a), set1(NAN), select(is_nan(x), x, bounded)), x);
}

/// x tanh(log(1 + e^x)), with w = (1 + e^x)^2 - 1.
HASTEN_INLINE F16 mish(F16 x) {
  const F16 two = set1(2.0f);
  const F16 e = exp(at_most(set1(20.0f), x));
  const F16 w = mul(e, add(e, two));
  return mul(x, div(w, add(w, two)));
}

}  // namespace

HASTEN_UNARY(sinh_f32, sinh(x))
HASTEN_UNARY(cosh_f32, cosh(x))
HASTEN_UNARY(asinh_f32, asinh(x))
HASTEN_UNARY(acosh_f32, acosh(x))
HASTEN_UNARY(atanh_f32, atanh(x))
HASTEN_UNARY(mish_f32, mish(x))
HASTEN_UNARY(softsign_f32, div(x, add(abs(x), set1(1.0f))))
HASTEN_UNARY(thresholded_relu_f32, select(lt(set1(alpha), x), x, set1(0.0f)))
/// alpha (e^(x / alpha) - 1) below zero.
HASTEN_UNARY(celu_f32, select(lt(x, set1(0.0f)), mul(set1(alpha), expm1(div(x, set1(alpha)))), x))

}  // namespace HASTEN_NS
}  // namespace hasten
