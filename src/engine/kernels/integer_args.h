// Arguments of quantization and of products of 8-bit integers.
#pragma once

#include <stdint.h>

#include "engine/kernels/window_args.h"

namespace hasten {

/// Between floats and integers of 8 and 16 bits (and 32, dequantizing), x and y being
/// [outer][axis][inner]; the scale and zero point of element (o, d, i) are those at
/// o * outer_step + d / block * axis_step + i * inner_step. Items: elements.
///   quantize:   y = saturate(round_to_even(x / scale) + zero), NaN: zero
///   dequantize: y = float(x - zero) * scale
struct QuantizeArgs {
  const void* x;
  void* y;
  const float* scale;
  const void* zero;  // of the integers' type; null: 0
  int dtype;         // of the integers: a number of onnx.TensorProto.DataType
  int64_t axis, inner, block;
  int64_t outer_step, axis_step;
  int64_t inner_step;  // 0 or 1
};

/// Least and largest of 0 and the elements of each chunk of kMinMaxChunk, both NaN where one is.
/// Items: chunks.
struct MinMaxArgs {
  const float* x;
  int64_t n;
  float* out;  // [chunks][2]
};
constexpr int64_t kMinMaxChunk = 8192;

/// What DynamicQuantizeLinear derives from the range of its input, which includes 0. A range that
/// is 0, or whose 255th part is, gives the scale 1; NaN gives the scale NaN and the zero point 0.
struct DynamicRange {
  float scale;
  int32_t zero;
};
// Always inlined: kernel files may not define functions that others could be linked to.
static inline __attribute__((always_inline)) DynamicRange dynamic_range(float low, float high) {
  DynamicRange r = {(high - low) / 255.0f, 0};
  if (r.scale > 3e38f) {  // the range overflowed, unless it was infinite
    r.scale = static_cast<float>((static_cast<double>(high) - static_cast<double>(low)) / 255.0);
  }
  if (r.scale == 0) r.scale = 1;
  float zero = 0.0f - low / r.scale;
  zero = zero > 255.0f ? 255.0f : zero;
  if (zero > 0.0f) {
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to nearest even
    r.zero = static_cast<int32_t>((zero + kRound) - kRound);
  }
  return r;
}

/// Rows of 8-bit numbers as 16-bit ones minus a zero point, with a 0 after the last where k is odd,
/// and their sums. Items: rows.
struct CenterRowsArgs {
  const void* x;  // [rows][k]
  int32_t is_signed;
  int64_t k, pairs;     // pairs = ceil(k / 2)
  const int32_t* zero;  // of each row
  int64_t zero_step;    // 0: one for all
  int16_t* out;         // [rows][pairs * 2]
  int32_t* sum;         // [rows]; wraps
};

/// Sequences of rows quantized each by its own range as DynamicQuantizeLinear does, minus the zero
/// point, with the rows' sums and scales. Items: sequences.
struct QuantizeRowsArgs {
  const float* x;  // [rows][k]
  int64_t k, pairs;
  int16_t* out;  // [rows][pairs * 2]
  int32_t* sum;
  float* scale;
  /// Item i is rows i, i + apart … of a sequence that share the range of its first lengths[i] rows
  /// (null: of all).
  int64_t steps, apart;
  const int32_t* lengths;
};

/// Products of centered rows by 8-bit panels: x = sum over k of a (b - b_zero), exactly, in 32 bits
/// that wrap; then that (y_dtype i32), or
///   f32:    y = float(x) * (a_scale * b_scale) + bias
///   u8, i8: y = saturate(round_to_even(float(x) * (a_scale * b_scale / y_scale)) + y_zero).
/// Items: blocks of `row_block` rows by kItemPanels panels of an output, products outside, then
/// column blocks.
struct IntegerGemmArgs {
  int64_t products, m, n, pairs;
  const int64_t *a_index, *b_index;  // which matrix a product takes; null: the first
  const int16_t* a;                  // [matrix][m][pairs * 2]
  const int32_t* a_sum;              // [matrix][m]
  const void* b;                     // [matrix][panel][pairs][16][2]
  int32_t b_signed;
  const int32_t* b_zero;  // [matrix][panels * 16]; null: 0
  void* y;                // [product][m][n]
  int32_t y_dtype;        // of f32, u8, i8, i32: a number of onnx.TensorProto.DataType
  const float* a_scale;   // [matrix][m]
  const float* b_scale;   // [matrix][panels * 16]
  const float* bias;      // [panels * 16], or null
  float y_scale;
  int32_t y_zero;
  int64_t row_block;
};
constexpr int64_t kItemPanels = 4;

/// Images of 8-bit numbers [image][channel][pixel] as 16-bit ones minus a zero point, channels
/// inside: [image][pixel][group][pairs * 2], with a 0 after a group of an odd number of channels.
/// Items: image * pixel blocks of kCenterPixels + block.
struct CenterPixelsArgs {
  const void* x;
  int32_t is_signed;
  int32_t zero;
  int64_t groups, group_in, pairs, pixels;
  int16_t* out;
};
constexpr int64_t kCenterPixels = 64;

/// Convolution of centered pixels by centered weights: sums over the taps inside the input,
/// exactly, in 32 bits that wrap, plus bias; then either that (y_dtype i32), or
///   y = saturate(round_to_even(float(x) * factor) + y_zero),   planes [image][channel][pixel].
/// Items: ((image * chunks + chunk) * groups + group) * parts + part, a part being kItemPanels
/// blocks of 16 output channels of a group.
/// conv_depthwise_s32 has a channel in and out of each group, pixels [image][pixel][channels
/// rounded up to 16], weights [tap][channels rounded up]; its items are (image * chunks + chunk) *
/// channel blocks + block.
struct IntegerConvArgs {
  const int16_t* x;
  const int16_t* w;     // [group][out block][tap][pairs][16][2]
  const int32_t* bias;  // [group][blocks * 16], or null
  const float* factor;  // likewise, for u8 and i8
  void* y;
  int32_t y_dtype;  // of u8, i8, i32: a number of onnx.TensorProto.DataType
  int32_t y_zero;
  const WindowRect* rects;
  const int64_t* chunks;
  int64_t chunk_count;
  WindowSteps steps;
  int64_t taps;
  int64_t groups, group_out, pairs;
  int64_t in_pixels, out_pixels;
};

}  // namespace hasten
