// Powers: exp2(y log2 x) with the logarithm in two floats.
#include "engine/kernels/broadcast.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

/// hi + lo, |lo| below half an ulp of hi.
struct Pair {
  F16 hi, lo;
};

/// log2 of a positive finite number, to about 2^-35 of its size.
HASTEN_INLINE Pair log2_pair(F16 x) {
  // log m = 2 atanh(s), s = f / (2 + f): 2 s leads and is kept in two floats.
  constexpr float kC[] = {0.6666666565f, 0.4000033507f, 0.2853731307f, 0.2358210367f};
  const LogParts p = log_parts(x);
  const F16 two = set1(2.0f);
  const F16 d = add(two, p.f), d_lo = sub(p.f, sub(d, two));
  const F16 s = div(p.f, d);
  const F16 rest = fma(neg(s), d_lo, fma(neg(s), d, p.f));  // f - s (d + d_lo)
  const F16 s_lo = div(rest, d);
  const F16 u = mul(s, s);
  const F16 h = add(s, s);
  const F16 l = fma(mul(u, s), poly(u, kC), add(s_lo, s_lo));
  // Times log2(e), in two floats; then the exponent, which is at least as large or zero.
  const F16 e_hi = set1(1.44269502f), e_lo = set1(1.92596300e-8f);
  const F16 q = mul(h, e_hi);
  const F16 q_lo = fma(h, e_lo, fma(l, e_hi, fma(h, e_hi, neg(q))));
  const F16 hi = add(p.e, q);
  return {hi, add(add(sub(p.e, hi), q), q_lo)};
}

HASTEN_INLINE M16 odd_integer(F16 y) {  // of an integer y
  const F16 half = mul(y, set1(0.5f));
  return lt(trunc(half), half);  // of |y|
}

HASTEN_INLINE F16 pow(F16 x, F16 y) {
  constexpr float kExp2[] = {1.0f,
                             0.6931472029f,
                             0.2402264791f,
                             0.0555033241f,
                             0.009618437607f,
                             0.001339890018f,
                             0.0001535334082f};
  const F16 zero = set1(0.0f), one = set1(1.0f), inf = set1(HUGE_VALF);
  const F16 a = abs(x), ay = abs(y);
  const Pair log = log2_pair(a);
  // y in [-big, big]: beyond, the result is 0, 1 or infinity in any case.
  const F16 big = set1(1e20f);
  const F16 cy = at_most(big, at_least(neg(big), y));
  F16 z = mul(cy, log.hi);
  F16 z_lo = fma(cy, log.lo, fma(cy, log.hi, neg(z)));
  const M16 outside = lt(set1(160.0f), abs(z));
  z = select(outside, copysign(set1(160.0f), z), z);
  z_lo = select(outside, zero, z_lo);
  const Rounded n = round_small(z);
  const F16 r = add(sub(z, n.number), z_lo);
  F16 result = scale_by_power(poly(r, kExp2), n.integer);

  // |x| of 0 and infinity.
  const M16 negative_y = lt(y, zero);
  result = select(eq(a, zero), select(negative_y, inf, zero), result);
  result = select(eq(a, inf), select(negative_y, zero, inf), result);
  // Infinite y: by |x| against 1.
  const M16 grows = negative_y;
  const F16 above = select(grows, zero, inf), below = select(grows, inf, zero);
  result = select(eq(ay, inf), select(lt(one, a), above, select(lt(a, one), below, one)), result);
  // Signs: only integer powers of negative numbers exist; those of -0 count as negative if odd.
  const F16 whole = trunc(y);
  const M16 integer = eq(whole, y);
  const F16 sign_of_x = copysign(one, x);
  const M16 negative_x = lt(sign_of_x, zero);
  result = select(both(negative_x, both(integer, odd_integer(ay))), neg(result), result);
  F16 nan = set1(NAN);
  const M16 no_power = both(both(lt(x, zero), lt(a, inf)), lt(zero, abs(sub(y, whole))));
  result = select(no_power, nan, result);
  result = select(either(is_nan(x), is_nan(y)), nan, result);
  result = select(either(eq(y, zero), eq(x, one)), one, result);
  // Powers that are cheaper and better otherwise; a still exponent takes them alone (see below).
  result = select(eq(y, one), x, result);
  result = select(eq(y, set1(2.0f)), mul(x, x), result);
  result = select(eq(y, set1(3.0f)), mul(mul(x, x), x), result);
  // pow(-0, 0.5) is 0 and pow(-inf, 0.5) is inf, other than the square root.
  const F16 root = select(eq(a, inf), inf, sqrt(add(x, zero)));
  return select(eq(y, set1(0.5f)), select(is_nan(x), nan, root), result);
}

}  // namespace

void pow_f32(const BroadcastArgs* a, int64_t begin, int64_t end) {
  if (a->step[0] == 1 && a->step[1] == 0) {
    // One exponent for a row: the same results as above, without what is not needed.
    for_each_row<2>(a, begin, end, [a](const RowPiece& p) {
      const float* x = static_cast<const float*>(a->in[0]) + p.at[0];
      const float y = static_cast<const float*>(a->in[1])[p.at[1]];
      float* out = static_cast<float*>(a->out) + p.out;
      const auto each = [&](auto f) __attribute__((always_inline)) {
        int64_t i = 0;
        for (; i + kLanes <= p.n; i += kLanes) store(f(load(x + i)), out + i);
        if (i < p.n) store_n(f(load_n(x + i, p.n - i)), out + i, p.n - i);
      };
      if (y == 2.0f) {
        each([](F16 v) { return mul(v, v); });
      } else if (y == 3.0f) {
        each([](F16 v) { return mul(mul(v, v), v); });
      } else if (y == 0.5f) {
        const F16 inf = set1(HUGE_VALF);
        each([=](F16 v) { return select(eq(abs(v), inf), inf, sqrt(add(v, set1(0.0f)))); });
      } else if (y == 1.0f) {
        each([](F16 v) { return v; });
      } else {
        const F16 exponent = set1(y);
        each([=](F16 v) { return pow(v, exponent); });
      }
    });
    return;
  }
  binary_f32(a, begin, end, [](F16 x, F16 y) { return pow(x, y); });
}

}  // namespace HASTEN_NS
}  // namespace hasten
