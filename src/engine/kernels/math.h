// Functions of 16 lanes, the same bits on every tier: our own polynomials over explicit FMA.
// Errors are the largest found over all floats of the range, in units of the last place (ulp), see
// tests/kernels/math_test.cpp. Coefficients: minimax fits (Remez) to the function in 40 digits.
// NaN in gives NaN out everywhere; results below the smallest normal number are denormal, not zero.
#pragma once

#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

/// Sixteen truths.
struct M16 {
  hn::Mask<DF> m[kVectors];
};
/// Sixteen 32-bit integers.
struct I16 {
  hn::Vec<DI> v[kVectors];
};

HASTEN_INLINE M16 lt(F16 a, F16 b) {
  M16 r;
  HASTEN_EACH r.m[i_] = hn::Lt(a.v[i_], b.v[i_]);
  return r;
}
HASTEN_INLINE M16 eq(F16 a, F16 b) {
  M16 r;
  HASTEN_EACH r.m[i_] = hn::Eq(a.v[i_], b.v[i_]);
  return r;
}
HASTEN_INLINE M16 is_nan(F16 a) {
  M16 r;
  HASTEN_EACH r.m[i_] = hn::IsNaN(a.v[i_]);
  return r;
}
HASTEN_INLINE M16 both(M16 a, M16 b) {
  HASTEN_EACH a.m[i_] = hn::And(a.m[i_], b.m[i_]);
  return a;
}
HASTEN_INLINE M16 either(M16 a, M16 b) {
  HASTEN_EACH a.m[i_] = hn::Or(a.m[i_], b.m[i_]);
  return a;
}
HASTEN_INLINE F16 select(M16 mask, F16 yes, F16 no) {
  HASTEN_EACH yes.v[i_] = hn::IfThenElse(mask.m[i_], yes.v[i_], no.v[i_]);
  return yes;
}
/// The first n lanes (0 < n <= 16) of p, and those of `other` in the rest; reads nothing past them.
HASTEN_INLINE F16 load_or(const float* p, int64_t n, F16 other) {
  F16 x = load_n(p, n);
#if HASTEN_TIER == 0
  HASTEN_EACH if (i_ >= n) x.v[i_] = other.v[i_];
#else
  HASTEN_EACH {
    const int64_t left = n - i_ * kWidth;
    const auto mask = hn::FirstN(DF(), static_cast<size_t>(left > 0 ? left : 0));
    x.v[i_] = hn::IfThenElse(mask, x.v[i_], other.v[i_]);
  }
#endif
  return x;
}
HASTEN_INLINE F16 abs(F16 a) {
  HASTEN_EACH a.v[i_] = hn::Abs(a.v[i_]);
  return a;
}
HASTEN_INLINE F16 neg(F16 a) {
  HASTEN_EACH a.v[i_] = hn::Xor(a.v[i_], hn::Set(DF(), -0.0f));
  return a;
}
/// |a| with the sign of b.
HASTEN_INLINE F16 copysign(F16 a, F16 b) {
  HASTEN_EACH {
    const auto sign = hn::And(b.v[i_], hn::Set(DF(), -0.0f));
    a.v[i_] = hn::Or(hn::Abs(a.v[i_]), sign);
  }
  return a;
}
HASTEN_INLINE I16 bits_of(F16 a) {
  I16 r;
  HASTEN_EACH r.v[i_] = hn::BitCast(DI(), a.v[i_]);
  return r;
}
HASTEN_INLINE F16 of_bits(I16 a) {
  F16 r;
  HASTEN_EACH r.v[i_] = hn::BitCast(DF(), a.v[i_]);
  return r;
}
HASTEN_INLINE I16 seti(int32_t x) {
  I16 r;
  HASTEN_EACH r.v[i_] = hn::Set(DI(), x);
  return r;
}
HASTEN_INLINE I16 addi(I16 a, I16 b) {
  HASTEN_EACH a.v[i_] = hn::Add(a.v[i_], b.v[i_]);
  return a;
}
HASTEN_INLINE I16 subi(I16 a, I16 b) {
  HASTEN_EACH a.v[i_] = hn::Sub(a.v[i_], b.v[i_]);
  return a;
}
HASTEN_INLINE I16 andi(I16 a, I16 b) {
  HASTEN_EACH a.v[i_] = hn::And(a.v[i_], b.v[i_]);
  return a;
}
template <int kBits>
HASTEN_INLINE I16 shift_left(I16 a) {
  HASTEN_EACH a.v[i_] = hn::ShiftLeft<kBits>(a.v[i_]);
  return a;
}
template <int kBits>
HASTEN_INLINE I16 shift_right(I16 a) {  // arithmetic
  HASTEN_EACH a.v[i_] = hn::ShiftRight<kBits>(a.v[i_]);
  return a;
}
HASTEN_INLINE F16 to_floats(I16 a) {
  F16 r;
  HASTEN_EACH r.v[i_] = hn::ConvertTo(DF(), a.v[i_]);
  return r;
}

#if HASTEN_TIER == 0
#define HASTEN_ROUNDING_(a, Vector, scalar) \
  HASTEN_EACH a.v[i_] = hn::Set(DF(), scalar(hn::GetLane(a.v[i_])))
#else
#define HASTEN_ROUNDING_(a, Vector, scalar) HASTEN_EACH a.v[i_] = hn::Vector(a.v[i_])
#endif
// Highway's scalar forms lose the sign of some zeros.
HASTEN_INLINE F16 floor(F16 a) {
  HASTEN_ROUNDING_(a, Floor, __builtin_floorf);
  return a;
}
HASTEN_INLINE F16 ceil(F16 a) {
  HASTEN_ROUNDING_(a, Ceil, __builtin_ceilf);
  return a;
}
HASTEN_INLINE F16 trunc(F16 a) {
  HASTEN_ROUNDING_(a, Trunc, __builtin_truncf);
  return a;
}
/// Halves to even.
HASTEN_INLINE F16 round(F16 a) {
  HASTEN_ROUNDING_(a, Round, __builtin_nearbyintf);
  return a;
}
#undef HASTEN_ROUNDING_

/// The larger and the smaller; NaN if either is NaN; of zeros with two signs the first argument.
HASTEN_INLINE F16 max_nan(F16 a, F16 b) {
  HASTEN_EACH {
    const auto take_a = hn::Not(hn::Or(hn::Lt(a.v[i_], b.v[i_]), hn::IsNaN(b.v[i_])));
    a.v[i_] = hn::IfThenElse(take_a, a.v[i_], b.v[i_]);
  }
  return a;
}
HASTEN_INLINE F16 min_nan(F16 a, F16 b) {
  HASTEN_EACH {
    const auto take_a = hn::Not(hn::Or(hn::Gt(a.v[i_], b.v[i_]), hn::IsNaN(b.v[i_])));
    a.v[i_] = hn::IfThenElse(take_a, a.v[i_], b.v[i_]);
  }
  return a;
}
/// The larger of a bound that is not NaN and x; x if it is NaN.
HASTEN_INLINE F16 at_least(F16 bound, F16 x) { return max(bound, x); }
HASTEN_INLINE F16 at_most(F16 bound, F16 x) { return min(bound, x); }

/// c[0] + x * (c[1] + x * (…)).
template <int kCount>
HASTEN_INLINE F16 poly(F16 x, const float (&c)[kCount]) {
  F16 r = set1(c[kCount - 1]);
#pragma GCC unroll 16
  for (int k = 2; k <= kCount; ++k) r = fma(r, x, set1(c[kCount - k]));
  return r;
}

/// x rounded to an integer (|x| < 2^22), as a number and as an integer.
struct Rounded {
  F16 number;
  I16 integer;
};
HASTEN_INLINE Rounded round_small(F16 x) {
  const F16 magic = set1(12582912.0f);  // 1.5 * 2^23: the last bit is 1
  const F16 t = add(x, magic);
  return {sub(t, magic), subi(bits_of(t), bits_of(magic))};
}
/// x * 2^n for |n| <= 150 or so, rounded once, also into the denormals and to infinity.
HASTEN_INLINE F16 scale_by_power(F16 x, I16 n) {
  const I16 half = shift_right<1>(n), one = seti(127);
  const F16 a = of_bits(shift_left<23>(addi(half, one)));
  const F16 b = of_bits(shift_left<23>(addi(subi(n, half), one)));
  return mul(mul(x, a), b);
}

/// x = n ln2 + r with |r| <= ln2 / 2, and e^r - 1.
struct ExpParts {
  I16 n;
  F16 expm1;
};
HASTEN_INLINE ExpParts exp_parts(F16 x) {
  constexpr float kC[] = {0.4999999345f, 0.1666652063f, 0.04166838805f, 0.008368716885f,
                          0.001381459849f};
  const Rounded n = round_small(mul(x, set1(1.44269504f)));
  F16 r = fma(n.number, set1(-0.693145752f), x);
  r = fma(n.number, set1(-1.42860677e-6f), r);
  return {n.integer, fma(mul(r, r), poly(r, kC), r)};
}
/// 1 ulp.
HASTEN_INLINE F16 exp(F16 x) {
  x = at_most(set1(89.0f), at_least(set1(-104.0f), x));
  const ExpParts p = exp_parts(x);
  return scale_by_power(add(p.expm1, set1(1.0f)), p.n);
}
/// e^x for x <= 0, with zero for results below the smallest normal number: of use where they are
/// added to a sum that holds a 1. 1 ulp.
HASTEN_INLINE F16 exp_negative(F16 x) {
  const F16 low = set1(-87.0f);
  const ExpParts p = exp_parts(at_least(low, x));
  const F16 scale = of_bits(shift_left<23>(addi(p.n, seti(127))));
  return select(lt(x, low), set1(0.0f), fma(p.expm1, scale, scale));
}
/// e^x - 1 for x <= 88. 2 ulp.
HASTEN_INLINE F16 expm1(F16 x) {
  x = at_least(set1(-87.0f), x);
  const ExpParts p = exp_parts(x);
  const F16 scale = of_bits(shift_left<23>(addi(p.n, seti(127))));
  return fma(p.expm1, scale, sub(scale, set1(1.0f)));
}

/// Splits a positive number: x = 2^e m with m in [1/sqrt2, sqrt2); gives e and m - 1.
struct LogParts {
  F16 e, f;
};
HASTEN_INLINE LogParts log_parts(F16 x) {
  const M16 tiny = lt(x, set1(1.17549435e-38f));
  x = select(tiny, mul(x, set1(8388608.0f)), x);
  const I16 bits = bits_of(x), base = seti(0x3f3504f3);  // 1/sqrt2
  const I16 e = shift_right<23>(subi(bits, base));
  const F16 m = of_bits(subi(bits, shift_left<23>(e)));
  F16 number = to_floats(e);
  number = select(tiny, sub(number, set1(23.0f)), number);
  return {number, sub(m, set1(1.0f))};
}
/// Natural logarithm: -inf of 0, NaN below. 1 ulp.
HASTEN_INLINE F16 log(F16 x) {
  constexpr float kC[] = {0.3333331262f,  -0.2500000958f, 0.200021179f,
                          -0.1666799707f, 0.1421956343f,  -0.1240556377f,
                          0.1188808104f,  -0.1167581637f, 0.06747004088f};
  const LogParts p = log_parts(x);
  const F16 f2 = mul(p.f, p.f);
  F16 r = mul(mul(f2, p.f), poly(p.f, kC));
  r = fma(p.e, set1(-2.12194440e-4f), r);
  r = fma(f2, set1(-0.5f), r);
  r = add(r, p.f);
  r = fma(p.e, set1(0.693359375f), r);
  const F16 inf = set1(HUGE_VALF);
  r = select(eq(x, inf), inf, r);
  r = select(eq(x, set1(0.0f)), neg(inf), r);
  // Not (x >= 0): below zero, or NaN.
  r = select(lt(x, set1(0.0f)), set1(NAN), r);
  return select(is_nan(x), x, r);
}
/// log(1 + x) for x in [0, 1]. 2 ulp.
HASTEN_INLINE F16 log1p_unit(F16 x) {
  // log(u) with what 1 + x lost in rounding, to first order.
  const F16 one = set1(1.0f), u = add(one, x);
  const F16 lost = sub(x, sub(u, one));
  return add(log(u), div(lost, u));
}

/// 1 / (1 + e^-x). 2 ulp.
HASTEN_INLINE F16 sigmoid(F16 x) {
  const F16 one = set1(1.0f);
  const F16 e = exp(neg(abs(x)));
  return div(select(lt(x, set1(0.0f)), e, one), add(one, e));
}
/// 3 ulp.
HASTEN_INLINE F16 tanh(F16 x) {
  x = at_most(set1(10.0f), at_least(set1(-10.0f), x));
  const F16 e = expm1(add(x, x));
  return div(e, add(e, set1(2.0f)));
}
/// 7 ulp.
HASTEN_INLINE F16 erf(F16 x) {
  constexpr float kP[] = {1.128379168f,     0.1855825108f,  0.05426246506f,  0.003851133246f,
                          0.0003753250507f, 4.56354267e-6f, -1.260963017e-8f};
  constexpr float kQ[] = {1.0f,          0.4978015846f,   0.1140224188f,
                          0.0154507255f, 0.001302054647f, 6.195470631e-5f};
  x = at_most(set1(3.925f), at_least(set1(-3.925f), x));
  const F16 u = mul(x, x);
  const F16 r = div(mul(x, poly(u, kP)), poly(u, kQ));
  return at_most(set1(1.0f), at_least(set1(-1.0f), r));
}

// What follows an operator so often that it is done in one go with it. One definition for the
// operators themselves and for kernels that fuse them. NaN stays NaN.

HASTEN_INLINE F16 relu(F16 x) { return at_least(set1(0.0f), x); }
HASTEN_INLINE F16 clip(F16 x, float low, float high) {
  return at_most(set1(high), at_least(set1(low), x));
}
HASTEN_INLINE F16 leaky_relu(F16 x, float slope) {
  return select(lt(x, set1(0.0f)), mul(x, set1(slope)), x);
}
/// max(0, min(1, alpha x + beta)), the sum rounded once.
HASTEN_INLINE F16 hard_sigmoid(F16 x, float alpha, float beta) {
  return clip(fma(x, set1(alpha), set1(beta)), 0.0f, 1.0f);
}
HASTEN_INLINE F16 hard_swish(F16 x) { return mul(x, hard_sigmoid(x, 1.0f / 6.0f, 0.5f)); }
HASTEN_INLINE F16 silu(F16 x) { return mul(x, sigmoid(x)); }
/// x / 2 (1 + erf(x / sqrt 2)).
HASTEN_INLINE F16 gelu(F16 x) {
  const F16 half = mul(x, set1(0.5f));
  return fma(half, erf(mul(x, set1(0.70710678f))), half);
}
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
HASTEN_INLINE F16 gelu_tanh(F16 x) {
  const F16 half = mul(x, set1(0.5f));
  const F16 cube = mul(mul(x, x), mul(x, set1(0.044715f)));
  return fma(half, tanh(mul(add(x, cube), set1(0.79788456f))), half);
}
/// log(1 + e^x).
HASTEN_INLINE F16 softplus(F16 x) {
  return add(at_least(set1(0.0f), x), log1p_unit(exp(neg(abs(x)))));
}

}  // namespace HASTEN_NS
}  // namespace hasten
