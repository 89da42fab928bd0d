// What Resize and Upsample share: which input elements make an output element, per axis.
#pragma once

#include <optional>
#include <vector>

#include "engine/ops/moves.h"
#include "engine/ops/op.h"

namespace hasten {

/// The attributes of Resize; Upsample and old opsets are special cases.
struct ResizeRules {
  enum class Mode { kNearest, kLinear, kCubic };
  enum class Coordinates {
    kHalfPixel,
    kHalfPixelSymmetric,
    kPytorchHalfPixel,
    kAlignCorners,
    kAsymmetric,
    kTfHalfPixelForNn,
    kTfCropAndResize
  };
  enum class Rounding {
    kRoundPreferFloor,
    kRoundPreferCeil,
    kFloor,
    kCeil,
    kCeilIfSmaller  // before opset 11: ceil when an axis shrinks, else floor
  };
  enum class Aspect { kStretch, kNotLarger, kNotSmaller };

  Mode mode = Mode::kNearest;
  Coordinates coordinates = Coordinates::kHalfPixel;
  Rounding rounding = Rounding::kRoundPreferFloor;
  Aspect aspect = Aspect::kStretch;
  float cubic_a = -0.75f;
  float extrapolation = 0;
  bool exclude_outside = false;
  bool antialias = false;
  std::optional<std::vector<int64_t>> axes;  // all, if absent
};

/// From the attributes of a Resize of opset 11 or later. Error: invalid_model naming the attribute.
Result<ResizeRules> resize_rules(const OpContext& c);

/// The values of the inputs; one of scales and sizes.
struct ResizeOperands {
  std::optional<std::vector<float>> roi, scales;
  std::optional<std::vector<int64_t>> sizes;
};

/// How one axis is resized.
struct ResizeAxis {
  int64_t in = 1, out = 1;
  float scale = 1;
  float length = 1;  // of the output, before rounding down to `out`
  float roi_begin = 0, roi_end = 1;
};

/// One entry per dim. Errors: invalid_model for lists of the wrong length, scales that are not
/// positive, sizes that can't be.
Result<std::vector<ResizeAxis>> resize_axes(const OpContext& c, const ResizeRules& rules,
                                            std::span<const int64_t> dims,
                                            const ResizeOperands& operands);
/// The output shape of inference, when dims or sizes may be symbols.
Result<Shape> resized_shape(const OpContext& c, const ResizeRules& rules, const Shape& dims,
                            const ResizeOperands& operands);

/// Where each output element comes from; kFill where the rules extrapolate.
AxisMap nearest_map(const ResizeRules& rules, const ResizeAxis& axis);

/// Output element i is the sum over t of weight[i * taps + t] * input[index[i * taps + t]].
struct AxisTaps {
  int64_t taps = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
  std::vector<bool> outside;  // extrapolated instead
  bool any_outside = false;
};
AxisTaps axis_taps(const ResizeRules& rules, const ResizeAxis& axis);
/// Does the axis stay as it is?
bool is_unchanged(const ResizeRules& rules, const ResizeAxis& axis);

/// reference and lower of both operators, once the axes are known.
Status reference_resize(RefContext& c, const ResizeRules& rules,
                        const std::vector<ResizeAxis>& axes);
Status lower_resize(LowerContext& c, const ResizeRules& rules, std::vector<ResizeAxis> axes);
/// Is that mode defined for the dtype? Error: unsupported.
Status check_resize_dtype(const OpContext& c, const ResizeRules& rules, DType dtype);

}  // namespace hasten
