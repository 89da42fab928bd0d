// Trigonometric functions and their inverses, over all floats. Errors are the largest found, in
// units of the last place (tests/kernels/math_test.cpp); coefficients are minimax fits.
#include "engine/kernels/elementwise_args.h"
#include "engine/kernels/math.h"
#include "engine/kernels/unary.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

HASTEN_INLINE F16 flip_sign(F16 a, I16 sign_bits) {
  const F16 s = of_bits(sign_bits);
  HASTEN_EACH a.v[i_] = hn::Xor(a.v[i_], s.v[i_]);
  return a;
}
HASTEN_INLINE bool any(M16 a) {
  bool found = false;
  HASTEN_EACH found = found || !hn::AllFalse(DF(), a.m[i_]);
  return found;
}

/// x = quadrant * pi/2 + rest with |rest| <= pi/4; the quadrant modulo 4.
struct Angle {
  F16 rest;
  I16 quadrant;
};

/// The same for one finite number of at least 2: the bits of 2/pi that matter, times its mantissa.
void reduce_large(float x, float* rest, float* quadrant) {
  // 2/pi after the binary point.
  constexpr uint64_t kBits[] = {0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
                                0xfe5163abdebbc561u};
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 150;
  const uint32_t mantissa = (bits & 0x7fffff) | 0x800000;
  // Bits before `start` only add whole turns.
  const int start = exponent > 2 ? exponent - 2 : 0;
  const uint64_t* word = kBits + start / 64;
  const int shift = start % 64;
  uint64_t high = word[0], low = word[1];
  if (shift > 0) {
    high = high << shift | low >> (64 - shift);
    low = low << shift | word[2] >> (64 - shift);
  }
  __extension__ using Wide = unsigned __int128;
  const int point = 96 - exponent + start;
  Wide product = (Wide{high} << 32 | low >> 32) * mantissa;
  product &= (Wide{1} << (point + 2)) - 1;
  const Wide turns = (product + (Wide{1} << (point - 1))) >> point;
  // In units of 2^-62.
  const auto fraction = static_cast<int64_t>(static_cast<uint64_t>(product >> (point - 62)) -
                                             (static_cast<uint64_t>(turns) << 62));
  double r = static_cast<double>(fraction) * 0x1p-62 * 1.5707963267948966;
  auto q = static_cast<int32_t>(static_cast<uint64_t>(turns) & 3);
  if (x < 0) {
    r = -r;
    q = -q;
  }
  *rest = static_cast<float>(r);
  *quadrant = static_cast<float>(q);
}

HASTEN_INLINE Angle reduce(F16 x) {
  // Up to here three parts of pi/2 are enough: the first step is exact, and each after it rounds
  // once.
  constexpr float kLarge = 65536.0f;
  Rounded n = round_small(mul(x, set1(0.6366197724f)));
  F16 r = fma(n.number, set1(-1.570796371f), x);
  r = fma(n.number, set1(4.371138829e-08f), r);
  r = fma(n.number, set1(1.71512451e-15f), r);
  const F16 size = abs(x);
  // Keeps -0 and denormals.
  r = select(lt(size, set1(0.785f)), x, r);
  if (any(lt(set1(kLarge), size))) {
    alignas(64) float in[kLanes], rest[kLanes], quadrant[kLanes];
    store(x, in);
    store(r, rest);
    store(n.number, quadrant);
    for (int i = 0; i < kLanes; ++i) {
      const float a = __builtin_fabsf(in[i]);
      if (!(a > kLarge)) continue;
      if (a == HUGE_VALF) {
        rest[i] = NAN;
        quadrant[i] = 0;
      } else {
        reduce_large(in[i], &rest[i], &quadrant[i]);
      }
    }
    r = load(rest);
    n = round_small(load(quadrant));
  }
  return {r, n.integer};
}

HASTEN_INLINE F16 sin_small(F16 r, F16 z) {
  constexpr float kC[] = {-0.1666666664f, 0.008333329304f, -0.0001983931187f, 2.718117777e-06f};
  return fma(mul(r, z), poly(z, kC), r);
}
HASTEN_INLINE F16 cos_small(F16 z) {
  constexpr float kC[] = {0.04166666662f, -0.00138888835f, 2.479945972e-05f, -2.720571854e-07f};
  return fma(mul(z, z), poly(z, kC), fma(z, set1(-0.5f), set1(1.0f)));
}
HASTEN_INLINE M16 is_odd(I16 n) {
  return lt(copysign(set1(1.0f), of_bits(shift_left<31>(n))), set1(0.0f));
}
/// Of the angle that lies `quarters` further.
HASTEN_INLINE F16 sin_of(const Angle& a, int quarters) {
  const F16 z = mul(a.rest, a.rest);
  const I16 n = addi(a.quadrant, seti(quarters));
  const F16 y = select(is_odd(n), cos_small(z), sin_small(a.rest, z));
  return flip_sign(y, shift_left<30>(andi(n, seti(2))));
}

/// 2 ulp each.
HASTEN_INLINE F16 sin(F16 x) { return sin_of(reduce(x), 0); }
HASTEN_INLINE F16 cos(F16 x) { return sin_of(reduce(x), 1); }
/// 4 ulp.
HASTEN_INLINE F16 tan(F16 x) {
  const Angle a = reduce(x);
  const F16 z = mul(a.rest, a.rest);
  const F16 s = sin_small(a.rest, z), c = cos_small(z);
  const M16 odd = is_odd(a.quadrant);
  return div(select(odd, neg(c), s), select(odd, s, c));
}

constexpr float kHalfPi[] = {1.570796371f, -4.371138829e-08f};
constexpr float kQuarterPi[] = {0.7853981853f, -2.185569414e-08f};

/// 2 ulp.
HASTEN_INLINE F16 atan(F16 x) {
  constexpr float kC[] = {-0.333333325f, 0.1999990386f,   -0.1428200637f,
                          0.1104467376f, -0.08476165842f, 0.04743827275f};
  const F16 a = abs(x), one = set1(1.0f);
  const M16 large = lt(set1(2.414213562f), a);               // tan(3 pi / 8)
  const M16 middle = lt(set1(0.4142135624f), a);             // tan(pi / 8)
  F16 r = select(middle, div(sub(a, one), add(a, one)), a);  // pi/4 + atan((a - 1) / (a + 1))
  r = select(large, div(set1(-1.0f), a), r);                 // pi/2 - atan(1 / a)
  const F16 zero = set1(0.0f);
  const F16 high = select(large, set1(kHalfPi[0]), select(middle, set1(kQuarterPi[0]), zero));
  const F16 low = select(large, set1(kHalfPi[1]), select(middle, set1(kQuarterPi[1]), zero));
  const F16 z = mul(r, r);
  const F16 tail = fma(mul(r, z), poly(z, kC), low);
  return copysign(select(is_nan(x), x, add(high, add(r, tail))), x);
}

/// asin(r) - r for |r| <= 1/2, z = r^2.
HASTEN_INLINE F16 asin_tail(F16 r, F16 z) {
  constexpr float kC[] = {0.1666665997f, 0.07500505382f, 0.04451670871f,
                          0.0318099082f, 0.01442985457f, 0.0375293582f};
  return mul(mul(r, z), poly(z, kC));
}
/// For |x| > 1/2: asin(sqrt((1 - |x|) / 2)), which is acos(|x|) / 2; NaN above 1.
HASTEN_INLINE F16 half_acos(F16 a) {
  const F16 z = mul(sub(set1(1.0f), a), set1(0.5f));
  const F16 s = sqrt(z);
  return add(s, asin_tail(s, z));
}
/// 3 ulp.
HASTEN_INLINE F16 asin(F16 x) {
  const F16 a = abs(x);
  const F16 h = half_acos(a);
  const F16 near_one = add(set1(kHalfPi[0]), fma(set1(-2.0f), h, set1(kHalfPi[1])));
  const F16 near_zero = add(a, asin_tail(a, mul(a, a)));
  const F16 y = select(lt(set1(0.5f), a), near_one, near_zero);
  return copysign(select(is_nan(x), x, y), x);
}
/// 2 ulp.
HASTEN_INLINE F16 acos(F16 x) {
  const F16 a = abs(x), h = half_acos(a);
  const F16 twice = add(h, h);
  const F16 below = add(set1(2 * kHalfPi[0]), sub(set1(2 * kHalfPi[1]), twice));
  const F16 outer = select(lt(x, set1(0.0f)), below, twice);
  const F16 tail = asin_tail(x, mul(x, x));
  const F16 inner = sub(set1(kHalfPi[0]), add(x, sub(tail, set1(kHalfPi[1]))));
  return select(is_nan(x), x, select(lt(set1(0.5f), a), outer, inner));
}

}  // namespace

HASTEN_UNARY(sin_f32, sin(x))
HASTEN_UNARY(cos_f32, cos(x))
HASTEN_UNARY(tan_f32, tan(x))
HASTEN_UNARY(asin_f32, asin(x))
HASTEN_UNARY(acos_f32, acos(x))
HASTEN_UNARY(atan_f32, atan(x))

}  // namespace HASTEN_NS
}  // namespace hasten
