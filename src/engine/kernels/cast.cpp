// Conversions between element types, as ops/convert.h defines them.
#include <limits>
#include <type_traits>

#include "engine/kernels/elementwise_args.h"
#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

// Types of their own for what is stored in the same integers.
struct Float16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};
struct Truth {
  uint8_t byte;
};

HASTEN_INLINE float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
HASTEN_INLINE uint32_t bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Selections instead of branches, so that the compiler vectorizes them.
HASTEN_INLINE float to_f32(Float16 h) {
  const uint32_t sign = (h.bits & 0x8000u) << 16, rest = h.bits & 0x7fffu;
  const uint32_t normal = (rest << 13) + (112u << 23);
  const uint32_t special = (rest << 13) | 0x7f800000u;
  const uint32_t small = bits_of_float(static_cast<float>(static_cast<int32_t>(rest)) * 0x1p-24f);
  return float_of(sign | (rest >= 0x7c00u ? special : rest < 0x400u ? small : normal));
}
HASTEN_INLINE Float16 to_f16(float x) {
  const uint32_t u = bits_of_float(x), a = u & 0x7fffffffu;
  const uint32_t nan = 0x7e00u | ((a >> 13) & 0x3ffu);
  const uint32_t small = bits_of_float(float_of(a) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (a + 0xfffu + ((a >> 13) & 1u) - 0x38000000u) >> 13;
  const uint32_t finite = a < 0x38800000u ? small : normal;
  const uint32_t magnitude = a > 0x7f800000u ? nan : a >= 0x477ff000u ? 0x7c00u : finite;
  return {static_cast<uint16_t>(((u >> 16) & 0x8000u) | magnitude)};
}
HASTEN_INLINE float to_f32(Bf16 x) { return float_of(static_cast<uint32_t>(x.bits) << 16); }
HASTEN_INLINE Bf16 to_bf16(float x) {
  const uint32_t u = bits_of_float(x);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return {static_cast<uint16_t>(x != x ? (u >> 16) | 0x40u : rounded)};
}

constexpr float power_of_two(int n) { return n == 0 ? 1.0f : 2.0f * power_of_two(n - 1); }

template <class To, class From>
HASTEN_INLINE To convert(From x) {
  if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, Bf16>) {
    return convert<To>(to_f32(x));
  } else if constexpr (std::is_same_v<From, Truth>) {
    return convert<To>(static_cast<int32_t>(x.byte));
  } else if constexpr (std::is_same_v<To, Float16>) {
    return to_f16(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, Bf16>) {
    return to_bf16(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, Truth>) {
    return {static_cast<uint8_t>(x != 0)};
  } else if constexpr (std::is_same_v<From, float> && std::is_integral_v<To>) {
    // To the nearest end where it does not fit; NaN to 0. The largest integer itself may not be a
    // float, the power of two above it is.
    constexpr To kLeast = std::numeric_limits<To>::min(), kMost = std::numeric_limits<To>::max();
    constexpr float kLow = static_cast<float>(kLeast);
    constexpr float kAbove = power_of_two(std::numeric_limits<To>::digits);
    const To inside = static_cast<To>(x >= kLow && x < kAbove ? x : 0.0f);
    return x >= kAbove ? kMost : x < kLow ? kLeast : inside;
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void convert_all(const CastArgs* a, int64_t begin, int64_t end) {
  const From* x = static_cast<const From*>(a->x);
  To* out = static_cast<To*>(a->out);
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) out[i] = convert<To>(x[i]);
}

template <class From>
void convert_from(const CastArgs* a, int64_t begin, int64_t end) {
  switch (a->to) {  // numbers of onnx.TensorProto.DataType
    case 1:
      return convert_all<From, float>(a, begin, end);
    case 2:
      return convert_all<From, uint8_t>(a, begin, end);
    case 3:
      return convert_all<From, int8_t>(a, begin, end);
    case 6:
      return convert_all<From, int32_t>(a, begin, end);
    case 7:
      return convert_all<From, int64_t>(a, begin, end);
    case 9:
      return convert_all<From, Truth>(a, begin, end);
    case 10:
      return convert_all<From, Float16>(a, begin, end);
    case 16:
      return convert_all<From, Bf16>(a, begin, end);
  }
}

}  // namespace

void cast(const CastArgs* a, int64_t begin, int64_t end) {
  switch (a->from) {
    case 1:
      return convert_from<float>(a, begin, end);
    case 2:
      return convert_from<uint8_t>(a, begin, end);
    case 3:
      return convert_from<int8_t>(a, begin, end);
    case 6:
      return convert_from<int32_t>(a, begin, end);
    case 7:
      return convert_from<int64_t>(a, begin, end);
    case 9:
      return convert_from<Truth>(a, begin, end);
    case 10:
      return convert_from<Float16>(a, begin, end);
    case 16:
      return convert_from<Bf16>(a, begin, end);
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
