// What Conv, ConvTranspose and the pools share: the attributes of a sliding window and its sizes.
#pragma once

#include "engine/ops/op.h"

namespace hasten {

enum class AutoPad { kNotSet, kValid, kSameUpper, kSameLower };

/// Attributes of a sliding window, one entry per spatial axis. All are at most 2^31 - 1, so that
/// products of two fit.
struct Window {
  Dims kernel, strides, dilations, pads_begin, pads_end;
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;

  size_t rank() const { return kernel.size(); }
  /// Pixels from the first tap to the last, both included.
  int64_t extent(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// Reads kernel_shape (which must equal `kernel` where that is not empty), strides, dilations,
/// pads, auto_pad and ceil_mode. `rank` is the number of spatial axes. Pads are ignored beside an
/// auto_pad other than NOTSET. Errors: invalid_model naming the attribute.
Result<Window> read_window(const OpContext& c, size_t rank, const Dims& kernel);

/// Pads of one axis with auto_pad resolved against a concrete input size.
void resolve_pads(const Window& w, size_t axis, int64_t in, int64_t* begin, int64_t* end);

/// Output size of a convolution or pool along one axis: a number if `in` is one; the same symbol
/// where the window keeps the size; else a fresh symbol. With ceil_mode, windows that would start
/// in the padding after the input are left out. Errors: invalid_model, a window larger than its
/// input.
Result<Dim> window_output(const OpContext& c, const Window& w, size_t axis, Dim in);

/// Output shape [N, channels, spatial...] for input shape [N, C, spatial...].
Result<Shape> window_shape(const OpContext& c, const Window& w, const Shape& in, Dim channels);

/// Sizes of a transposed convolution along one axis: the inverse of a strided window.
struct TransposedAxis {
  int64_t out = 0, pad_begin = 0;
};
/// `output_padding` and `output_shape` are empty where the attribute is absent; a number in
/// output_shape wins over pads. Errors: invalid_model.
Result<TransposedAxis> transposed_axis(const OpContext& c, const Window& w, size_t axis, int64_t in,
                                       const Dims& output_padding, const Dims& output_shape);

/// Taps of one window that lie inside the input: [first, first + count), and the input position of
/// the first. Empty: count 0.
struct Taps {
  int64_t first = 0, count = 0, position = 0;
};
/// Window `o` of a convolution or pool: input position o * stride - pad + tap * dilation.
Taps window_taps(int64_t o, int64_t stride, int64_t dilation, int64_t pad, int64_t kernel,
                 int64_t in);

}  // namespace hasten
