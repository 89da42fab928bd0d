// QuantizeLinear, DequantizeLinear, and the range that DynamicQuantizeLinear needs.
#include <limits>

#include "engine/kernels/integer_args.h"
#include "engine/kernels/quantize_row.h"
#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

namespace {

/// f(first element, count, index of its scale) over the runs of elements that lie along scales.
template <class F>
HASTEN_INLINE void for_each_run(const QuantizeArgs* a, int64_t begin, int64_t end, const F& f) {
  while (begin < end) {
    const int64_t i = begin % a->inner, d = begin / a->inner % a->axis;
    const int64_t o = begin / a->inner / a->axis;
    int64_t n = a->inner - i;
    if (a->inner_step == 0) {
      const int64_t left = a->block - d % a->block, rest = a->axis - d;
      n = (left < rest ? left : rest) * a->inner - i;
    }
    if (n > end - begin) n = end - begin;
    f(begin, n, o * a->outer_step + d / a->block * a->axis_step + i * a->inner_step);
    begin += n;
  }
}

template <class Y>
HASTEN_INLINE Y quantized(float x, float scale, int32_t zero) {
  constexpr auto kLeast = static_cast<int32_t>(std::numeric_limits<Y>::min()),
                 kMost = static_cast<int32_t>(std::numeric_limits<Y>::max());
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to nearest even
  const float low = static_cast<float>(kLeast - zero), high = static_cast<float>(kMost - zero);
  float q = x / scale;
  q = q < low ? low : q;
  q = q > high ? high : q;
  q = q == q ? q : 0.0f;
  return static_cast<Y>(static_cast<int32_t>((q + kRound) - kRound) + zero);
}

template <class Y>
void quantize_to(const QuantizeArgs* a, int64_t begin, int64_t end) {
  for_each_run(a, begin, end, [&](int64_t first, int64_t n, int64_t at) {
    const float* x = static_cast<const float*>(a->x) + first;
    Y* y = static_cast<Y*>(a->y) + first;
    const float* scale = a->scale + at;
    const Y* zero = a->zero ? static_cast<const Y*>(a->zero) + at : nullptr;
    if (a->inner_step == 0) {
      const float s = *scale;
      const int32_t z = zero ? *zero : 0;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = quantized<Y>(x[i], s, z);
    } else if (zero) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = quantized<Y>(x[i], scale[i], zero[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = quantized<Y>(x[i], scale[i], 0);
    }
  });
}

/// Wraps, for 32-bit integers.
template <class X>
HASTEN_INLINE float dequantized(X x, X zero, float scale) {
  return static_cast<float>(
             static_cast<int32_t>(static_cast<uint32_t>(x) - static_cast<uint32_t>(zero))) *
         scale;
}

template <class X>
void dequantize_from(const QuantizeArgs* a, int64_t begin, int64_t end) {
  for_each_run(a, begin, end, [&](int64_t first, int64_t n, int64_t at) {
    const X* x = static_cast<const X*>(a->x) + first;
    float* y = static_cast<float*>(a->y) + first;
    const float* scale = a->scale + at;
    const X* zero = a->zero ? static_cast<const X*>(a->zero) + at : nullptr;
    if (a->inner_step == 0) {
      const float s = *scale;
      const X z = zero ? *zero : X{0};
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = dequantized(x[i], z, s);
    } else if (zero) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = dequantized(x[i], zero[i], scale[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = dequantized(x[i], X{0}, scale[i]);
    }
  });
}

}  // namespace

void quantize_f32(const QuantizeArgs* a, int64_t begin, int64_t end) {
  switch (a->dtype) {  // numbers of onnx.TensorProto.DataType
    case 2:
      return quantize_to<uint8_t>(a, begin, end);
    case 3:
      return quantize_to<int8_t>(a, begin, end);
    case 4:
      return quantize_to<uint16_t>(a, begin, end);
    case 5:
      return quantize_to<int16_t>(a, begin, end);
  }
}

void dequantize_f32(const QuantizeArgs* a, int64_t begin, int64_t end) {
  switch (a->dtype) {
    case 2:
      return dequantize_from<uint8_t>(a, begin, end);
    case 3:
      return dequantize_from<int8_t>(a, begin, end);
    case 4:
      return dequantize_from<uint16_t>(a, begin, end);
    case 5:
      return dequantize_from<int16_t>(a, begin, end);
    case 6:
      return dequantize_from<int32_t>(a, begin, end);
  }
}

void min_max_f32(const MinMaxArgs* a, int64_t begin, int64_t end) {
  for (int64_t chunk = begin; chunk < end; ++chunk) {
    const int64_t first = chunk * kMinMaxChunk;
    const int64_t n = a->n - first < kMinMaxChunk ? a->n - first : kMinMaxChunk;
    const float* x = a->x + first;
    float* out = a->out + chunk * 2;
    min_max(x, n, &out[0], &out[1]);
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
