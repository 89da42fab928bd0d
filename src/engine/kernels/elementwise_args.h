// Arguments of kernels that compute element by element.
#pragma once

#include <stdint.h>

namespace hasten {

/// An element-wise function of up to three operands that broadcast to the output, as rows of `n`
/// elements: the dims of the output, collapsed. Items: elements of the output. Operands and output
/// have the element types that the kernel's name says; truths are bytes, 0 or 1.
struct BroadcastArgs {
  static constexpr int kMaxOuter = 6;
  const void* in[3];
  void* out;
  int64_t n;  // elements in a row
  int outer;  // dims of the rows, outermost first
  int64_t dims[kMaxOuter];
  int64_t strides[3][kMaxOuter];  // in elements
  /// Within a row: 0: one element; 1: neighbours; kLanes16: the same 16 neighbours again and again
  /// (channels of a row of nchw16c). With kLanes16, items begin and end at multiples of 16.
  int step[3];
  static constexpr int kLanes16 = 16;
  /// With kLanes16: how many of the 16 exist where the last outer index is at its end.
  int last_lanes[3];
};

/// f(x) element by element. Items: elements.
struct UnaryArgs {
  const float* x;
  float* out;
  float alpha, beta;  // what the operator's attributes say
};

/// Zeroes the channels that pad nchw16c. Items: groups of 16 elements.
struct PaddingArgs {
  float* x;
  int64_t blocks, pixels;  // ceil(C / 16), H * W
  int lanes;               // channels of the last block
};

/// Conversion between element types: f32, f16, bf16, i32, i64, u8, i8, bool. Items: elements.
struct CastArgs {
  const void* x;
  void* out;
  int from, to;  // numbers of onnx.TensorProto.DataType
};

}  // namespace hasten
