// Sixteen float lanes on every tier: the unit in which kernels think, so that all tiers give the
// same bits. Thin over Highway (static dispatch): 1 vector with AVX-512, 2 with AVX2, 16 scalars.
#pragma once

#include <hwy/highway.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if !defined(HASTEN_TIER)
#error "kernel files are compiled once per tier, with HASTEN_TIER set"
#endif

#define HASTEN_INLINE inline __attribute__((always_inline))

#if HASTEN_TIER == 2
static_assert(HWY_STATIC_TARGET == HWY_AVX3, "this tier needs AVX-512 F, CD, BW, DQ, VL");
#define HASTEN_NS avx512
#elif HASTEN_TIER == 1
static_assert(HWY_STATIC_TARGET == HWY_AVX2, "this tier needs AVX2 and FMA");
#define HASTEN_NS avx2
#else
static_assert(HWY_STATIC_TARGET == HWY_SCALAR, "this tier is plain x86-64");
#define HASTEN_NS scalar
#endif

namespace hasten {
namespace HASTEN_NS {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kLanes = 16;  // of the virtual vector
using DF = hn::CappedTag<float, kLanes>;
using DI = hn::RebindToSigned<DF>;
constexpr int kVectors = kLanes / static_cast<int>(hn::MaxLanes(DF()));
constexpr int kWidth = static_cast<int>(hn::MaxLanes(DF()));  // lanes of a real vector

struct F16 {
  hn::Vec<DF> v[kVectors];
};

#if HASTEN_TIER == 0
// Sixteen scalars unrolled inside unrolled register tiles would take minutes to compile.
#define HASTEN_EACH for (int i_ = 0; i_ < kVectors; ++i_)
#else
#define HASTEN_EACH _Pragma("GCC unroll 16") for (int i_ = 0; i_ < kVectors; ++i_)
#endif

HASTEN_INLINE F16 set1(float x) {
  F16 r;
  HASTEN_EACH r.v[i_] = hn::Set(DF(), x);
  return r;
}
HASTEN_INLINE F16 load(const float* p) {
  F16 r;
  HASTEN_EACH r.v[i_] = hn::LoadU(DF(), p + i_ * kWidth);
  return r;
}
HASTEN_INLINE void store(F16 a, float* p) {
  HASTEN_EACH hn::StoreU(a.v[i_], DF(), p + i_ * kWidth);
}
HASTEN_INLINE F16 add(F16 a, F16 b) {
  HASTEN_EACH a.v[i_] = hn::Add(a.v[i_], b.v[i_]);
  return a;
}
HASTEN_INLINE F16 sub(F16 a, F16 b) {
  HASTEN_EACH a.v[i_] = hn::Sub(a.v[i_], b.v[i_]);
  return a;
}
HASTEN_INLINE F16 mul(F16 a, F16 b) {
  HASTEN_EACH a.v[i_] = hn::Mul(a.v[i_], b.v[i_]);
  return a;
}
HASTEN_INLINE F16 div(F16 a, F16 b) {
  HASTEN_EACH a.v[i_] = hn::Div(a.v[i_], b.v[i_]);
  return a;
}
HASTEN_INLINE F16 sqrt(F16 a) {
  HASTEN_EACH a.v[i_] = hn::Sqrt(a.v[i_]);
  return a;
}
/// A real vector: a part of an F16, or one number in all its lanes (which all parts can share).
struct Part {
  hn::Vec<DF> v;
};
HASTEN_INLINE Part splat(const float* p) { return {hn::Set(DF(), *p)}; }
/// a * b + c, rounded once, on every tier.
HASTEN_INLINE Part fma(Part a, Part b, Part c) {
#if HASTEN_TIER == 0
  return {hn::Set(DF(), __builtin_fmaf(hn::GetLane(a.v), hn::GetLane(b.v), hn::GetLane(c.v)))};
#else
  return {hn::MulAdd(a.v, b.v, c.v)};
#endif
}
HASTEN_INLINE F16 fma(F16 a, F16 b, F16 c) {
  HASTEN_EACH c.v[i_] = fma(Part{a.v[i_]}, Part{b.v[i_]}, Part{c.v[i_]}).v;
  return c;
}
HASTEN_INLINE F16 fma(Part a, F16 b, F16 c) {
  HASTEN_EACH c.v[i_] = fma(a, Part{b.v[i_]}, Part{c.v[i_]}).v;
  return c;
}
/// Keeps what was loaded in a register: GCC otherwise repeats the load in each instruction that
/// uses it, and matrix kernels become bound by loads.
HASTEN_INLINE void pin([[maybe_unused]] Part& a) {
#if HASTEN_TIER > 0
  asm("" : "+v"(a.v.raw));
#endif
}
HASTEN_INLINE void pin([[maybe_unused]] F16& a) {
#if HASTEN_TIER > 0
  HASTEN_EACH asm("" : "+v"(a.v[i_].raw));
#endif
}

/// a > b ? a : b in every lane, so NaN in a gives b, and of equal zeros b: what the instructions of
/// x86 do. Written out elsewhere, because others differ.
HASTEN_INLINE F16 max(F16 a, F16 b) {
#if HASTEN_TIER > 0
  HASTEN_EACH a.v[i_] = hn::Max(a.v[i_], b.v[i_]);
#else
  HASTEN_EACH a.v[i_] = hn::IfThenElse(hn::Gt(a.v[i_], b.v[i_]), a.v[i_], b.v[i_]);
#endif
  return a;
}
/// a < b ? a : b, likewise.
HASTEN_INLINE F16 min(F16 a, F16 b) {
#if HASTEN_TIER > 0
  HASTEN_EACH a.v[i_] = hn::Min(a.v[i_], b.v[i_]);
#else
  HASTEN_EACH a.v[i_] = hn::IfThenElse(hn::Lt(a.v[i_], b.v[i_]), a.v[i_], b.v[i_]);
#endif
  return a;
}
/// The first n lanes (0 <= n <= 16), zero in the others; reads nothing past them.
HASTEN_INLINE F16 load_n(const float* p, int64_t n) {
  if (n >= kLanes) return load(p);
#if HASTEN_TIER == 0
  alignas(64) float lanes[kLanes] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];
  return load(lanes);
#else
  F16 r;
  HASTEN_EACH {
    const int64_t left = n - i_ * kWidth;
    const auto mask = hn::FirstN(DF(), static_cast<size_t>(left > 0 ? left : 0));
    r.v[i_] = hn::MaskedLoad(mask, DF(), p + i_ * kWidth);
  }
  return r;
#endif
}
/// Writes the first n lanes (0 <= n <= 16) and nothing else.
HASTEN_INLINE void store_n(F16 a, float* p, int64_t n) {
  if (n >= kLanes) return store(a, p);
#if HASTEN_TIER == 0
  alignas(64) float lanes[kLanes];
  store(a, lanes);
  for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
#else
  HASTEN_EACH {
    const int64_t left = n - i_ * kWidth;
    const auto mask = hn::FirstN(DF(), static_cast<size_t>(left > 0 ? left : 0));
    hn::BlendedStore(a.v[i_], mask, DF(), p + i_ * kWidth);
  }
#endif
}

/// The lanes folded to one number by f, always in the same tree: at distance 8, then 4, 2, 1.
template <class F>
HASTEN_INLINE float fold_lanes(F16 a, F&& f) {
#if HASTEN_TIER == 0
  alignas(64) float x[kLanes];
  store(a, x);
  for (int d = 8; d > 0; d /= 2) {
    for (int i = 0; i < d; ++i) {
      x[i] = hn::GetLane(f(hn::Set(DF(), x[i]), hn::Set(DF(), x[i + d])));
    }
  }
  return x[0];
#else
  const hn::CappedTag<float, 4> d4;
#if HASTEN_TIER == 2
  const hn::CappedTag<float, 8> d8;
  const auto v8 = f(hn::LowerHalf(d8, a.v[0]), hn::UpperHalf(d8, a.v[0]));
#else
  const auto v8 = f(a.v[0], a.v[1]);
#endif
  const auto v4 = f(hn::LowerHalf(d4, v8), hn::UpperHalf(d4, v8));
  const auto v2 = f(v4, hn::Shuffle1032(v4));
  return hn::GetLane(f(v2, hn::Shuffle2301(v2)));
#endif
}
/// Sum of the 16 lanes in one fixed order on all tiers.
HASTEN_INLINE float sum_lanes(F16 a) {
  return fold_lanes(a, [](auto x, auto y) { return hn::Add(x, y); });
}

}  // namespace HASTEN_NS
}  // namespace hasten
