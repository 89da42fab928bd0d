// Element-wise arithmetic, comparison and logic of two or three operands.
#include "engine/kernels/broadcast.h"

namespace hasten {
namespace HASTEN_NS {

#define HASTEN_BINARY_F32(name, result)                                                     \
  void name(const BroadcastArgs* a, int64_t begin, int64_t end) {                           \
    binary_f32(                                                                             \
        a, begin, end, [](F16 x, F16 y) __attribute__((always_inline)) { return result; }); \
  }
HASTEN_BINARY_F32(add_f32, add(x, y))
HASTEN_BINARY_F32(sub_f32, sub(x, y))
HASTEN_BINARY_F32(mul_f32, mul(x, y))
HASTEN_BINARY_F32(div_f32, div(x, y))
HASTEN_BINARY_F32(max_f32, max_nan(x, y))
HASTEN_BINARY_F32(min_f32, min_nan(x, y))
HASTEN_BINARY_F32(prelu_f32, select(lt(x, set1(0.0f)), mul(x, y), x))

// Integers wrap: arithmetic on their unsigned type.
#define HASTEN_BINARY_INT(name, T, result)                                            \
  void name(const BroadcastArgs* a, int64_t begin, int64_t end) {                     \
    binary_any<T, T>(a, begin, end, [](T x, T y) { return static_cast<T>(result); }); \
  }
HASTEN_BINARY_INT(add_i32, uint32_t, x + y)
HASTEN_BINARY_INT(sub_i32, uint32_t, x - y)
HASTEN_BINARY_INT(mul_i32, uint32_t, x* y)
HASTEN_BINARY_INT(add_i64, uint64_t, x + y)
HASTEN_BINARY_INT(sub_i64, uint64_t, x - y)
HASTEN_BINARY_INT(mul_i64, uint64_t, x* y)

#define HASTEN_COMPARE(name, T, op)                                                               \
  void name(const BroadcastArgs* a, int64_t begin, int64_t end) {                                 \
    binary_any<T, uint8_t>(a, begin, end, [](T x, T y) { return static_cast<uint8_t>(x op y); }); \
  }
#define HASTEN_COMPARE_ALL(name, op)      \
  HASTEN_COMPARE(name##_f32, float, op)   \
  HASTEN_COMPARE(name##_i32, int32_t, op) \
  HASTEN_COMPARE(name##_i64, int64_t, op)
HASTEN_COMPARE_ALL(equal, ==)
HASTEN_COMPARE_ALL(greater, >)
HASTEN_COMPARE_ALL(greater_or_equal, >=)
HASTEN_COMPARE_ALL(less, <)
HASTEN_COMPARE_ALL(less_or_equal, <=)
HASTEN_COMPARE(equal_bool, uint8_t, ==)
HASTEN_COMPARE(and_bool, uint8_t, &)
HASTEN_COMPARE(or_bool, uint8_t, |)
HASTEN_COMPARE(xor_bool, uint8_t, ^)

namespace {

/// out = condition ? x : y, elements as bits.
template <class T>
void where(const BroadcastArgs* a, int64_t begin, int64_t end) {
  for_each_row<3>(a, begin, end, [a](const RowPiece& p) {
    const uint8_t* condition = static_cast<const uint8_t*>(a->in[0]) + p.at[0];
    const T* x = static_cast<const T*>(a->in[1]) + p.at[1];
    const T* y = static_cast<const T*>(a->in[2]) + p.at[2];
    T* out = static_cast<T*>(a->out) + p.out;
    if (a->step[0] == 0) {
      const T* from = *condition ? x : y;
      const int step = *condition ? a->step[1] : a->step[2];
      for (int64_t i = 0; i < p.n; ++i) out[i] = from[i * step];
    } else if (a->step[1] == 1 && a->step[2] == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < p.n; ++i) out[i] = condition[i] ? x[i] : y[i];
    } else if (a->step[1] == 1) {
      const T fixed = *y;
#pragma GCC ivdep
      for (int64_t i = 0; i < p.n; ++i) out[i] = condition[i] ? x[i] : fixed;
    } else if (a->step[2] == 1) {
      const T fixed = *x;
#pragma GCC ivdep
      for (int64_t i = 0; i < p.n; ++i) out[i] = condition[i] ? fixed : y[i];
    } else {
      const T fixed_x = *x, fixed_y = *y;
#pragma GCC ivdep
      for (int64_t i = 0; i < p.n; ++i) out[i] = condition[i] ? fixed_x : fixed_y;
    }
  });
}

}  // namespace

void where_8(const BroadcastArgs* a, int64_t begin, int64_t end) { where<uint8_t>(a, begin, end); }
void where_16(const BroadcastArgs* a, int64_t begin, int64_t end) {
  where<uint16_t>(a, begin, end);
}
void where_32(const BroadcastArgs* a, int64_t begin, int64_t end) {
  where<uint32_t>(a, begin, end);
}
void where_64(const BroadcastArgs* a, int64_t begin, int64_t end) {
  where<uint64_t>(a, begin, end);
}

/// x * scale + shift, rounded once. x moves; scale and shift both move or both stand still.
void scale_shift_f32(const BroadcastArgs* a, int64_t begin, int64_t end) {
  for_each_row<3>(a, begin, end, [a](const RowPiece& p) {
    const float* x = static_cast<const float*>(a->in[0]) + p.at[0];
    const float* scale = static_cast<const float*>(a->in[1]) + p.at[1];
    const float* shift = static_cast<const float*>(a->in[2]) + p.at[2];
    float* out = static_cast<float*>(a->out) + p.out;
    const int64_t whole = p.n / kLanes * kLanes, rest = p.n - whole;
    if (a->step[1] == 1) {
      for (int64_t i = 0; i < whole; i += kLanes) {
        store(fma(load(x + i), load(scale + i), load(shift + i)), out + i);
      }
      if (rest) {
        const F16 s = load_n(scale + whole, rest), t = load_n(shift + whole, rest);
        store_n(fma(load_n(x + whole, rest), s, t), out + whole, rest);
      }
    } else {
      const F16 s = still(scale, a->step[1], p.lanes[1]);
      const F16 t = still(shift, a->step[2], p.lanes[2]);
      for (int64_t i = 0; i < whole; i += kLanes) store(fma(load(x + i), s, t), out + i);
      if (rest) store_n(fma(load_n(x + whole, rest), s, t), out + whole, rest);
    }
  });
}

void zero_padding_f32(const PaddingArgs* a, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t pixel = i % a->pixels, block = i / a->pixels % a->blocks;
    if (block < a->blocks - 1) {
      i += a->pixels - pixel - 1;  // on to the next block
      continue;
    }
    for (int lane = a->lanes; lane < kLanes; ++lane) a->x[i * kLanes + lane] = 0;
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
