// https://onnx.ai/onnx/operators/onnx__DeformConv.html, opsets 19-21, floats, up to eight spatial
// axes. A convolution whose taps lie `offset` beside their places, each times its `mask`: channels
// of the offset in the order (offset group, tap, axis), of the mask (offset group, tap). Positions,
// interpolation and sums are in double, rounded once. Pixels outside of the image count as 0.
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/convolution.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

constexpr ConvolutionInputs kInputs{0, 1, 3};
constexpr size_t kOffset = 2, kBias = 3, kMask = 4;
constexpr size_t kMostAxes = 8;  // spatial ones

/// Is input i [images, channels, output pixels...], as far as that is known?
Status check_operand(InferContext& c, size_t i, const char* name, Dim channels) {
  const Facts& f = c.in(i);
  if (!f.has_shape) return {};
  Shape want = c.out(0).shape;
  want[1] = channels;
  bool differ = f.rank() != want.size();
  for (size_t d = 0; d < want.size() && !differ; ++d) {
    differ = f.shape[d].known() && want[d].known() && f.shape[d] != want[d];
  }
  if (differ) return c.invalid("{} is {}, it must be {}", name, f.text(), shape_text(want));
  return {};
}

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtype(c, 0, kFloats));
  HASTEN_CHECK(check_same_dtype(c));
  HASTEN_CHECK(infer_convolution(c, kInputs, c.in(0).dtype));
  const Facts &x = c.in(0), &w = c.in(1);
  const int64_t groups = c.node().attr_int("offset_group", 1);
  if (groups < 1) return c.invalid("offset_group is {}, it must be at least 1", groups);
  if (x.has_shape && x.shape[1].known() && x.shape[1].value() % groups != 0) {
    return c.invalid("input has {} channels, which {} offset groups don't divide",
                     x.shape[1].value(), groups);
  }
  if (!x.has_shape || !w.has_shape) return {};
  const size_t rank = x.rank() - 2;
  if (rank > kMostAxes) return c.unsupported("{} spatial axes", rank);
  HASTEN_TRY(const Dim taps, dim_product(c, std::span(w.shape).subspan(2)));
  HASTEN_TRY(const Dim masks, dim_times(c, taps, groups));
  HASTEN_TRY(const Dim offsets, dim_times(c, masks, static_cast<int64_t>(rank)));
  HASTEN_CHECK(check_operand(c, kOffset, "offset", offsets));
  return check_operand(c, kMask, "mask", masks);
}

/// A pixel beside a position, and its weight.
struct Corner {
  int64_t pixel;
  double weight;
};

/// Where the taps of one output pixel take their values.
class Sampler {
 public:
  explicit Sampler(const std::vector<WindowAxis>& axes) : axes_(axes) {
    Dims in;
    for (const WindowAxis& a : axes) in.push_back(a.in);
    strides_ = row_major_strides(in);
  }

  /// The pixels around a position, [axes], that are in the image and have a weight, all of them
  /// times `factor`. NaN lies outside.
  const std::vector<Corner>& corners(const std::vector<double>& position, double factor) {
    corners_.assign(1, {0, factor});
    for (size_t d = 0; d < axes_.size(); ++d) {
      const double at = position[d];
      next_.clear();
      if (at > -1 && at < static_cast<double>(axes_[d].in)) {
        const double low = std::floor(at);
        for (const int64_t side : {0, 1}) {
          const double weight = side == 0 ? low + 1 - at : at - low;
          const int64_t pixel = static_cast<int64_t>(low) + side;
          if (weight == 0 || pixel < 0 || pixel >= axes_[d].in) continue;
          for (const Corner& c : corners_) {
            next_.push_back({c.pixel + pixel * strides_[d], c.weight * weight});
          }
        }
      }
      std::swap(corners_, next_);
    }
    return corners_;
  }

 private:
  const std::vector<WindowAxis>& axes_;
  Dims strides_;
  std::vector<Corner> corners_, next_;
};

/// The sizes that loops go over.
struct Sizes {
  int64_t taps = 1, in_pixels = 1, out_pixels = 1, channels = 0, offset_groups = 1;
  Dims kernel, out;
};

/// All values that the kernel at output pixel `o` of an image meets: [channels, taps].
template <class T>
void gather(const RefContext& c, const Convolution& v, const Sizes& s, int64_t image, int64_t o,
            Sampler& sampler, std::vector<double>& values) {
  const TensorView &offset = c.in(kOffset), &mask = c.in(kMask);
  const size_t rank = v.axes.size();
  const int64_t of_group = s.channels / s.offset_groups;
  std::vector<double> at(rank);
  for (int64_t row = 0; row < s.offset_groups * s.taps; ++row) {
    // Tap and output pixel fall apart into their axes, the innermost first.
    int64_t tap = row % s.taps, pixel = o;
    const int64_t place = image * s.offset_groups * s.taps + row;
    for (size_t d = rank; d-- > 0; tap /= s.kernel[d], pixel /= s.out[d]) {
      const int64_t i = place * static_cast<int64_t>(rank) + static_cast<int64_t>(d);
      const WindowAxis& a = v.axes[d];
      at[d] = static_cast<double>(pixel % s.out[d] * a.stride - a.pad +
                                  tap % s.kernel[d] * a.dilation) +
              static_cast<double>(Compute<T>::load(offset.as<T>()[i * s.out_pixels + o]));
    }
    const double factor =
        c.has_in(kMask) ? Compute<T>::load(mask.as<T>()[place * s.out_pixels + o]) : 1.0;
    const std::vector<Corner>& corners = sampler.corners(at, factor);
    for (int64_t k = 0; k < of_group; ++k) {
      const int64_t channel = row / s.taps * of_group + k;
      const T* from = c.in(0).as<T>() + (image * s.channels + channel) * s.in_pixels;
      double sum = 0;
      for (const Corner& n : corners) {
        sum += n.weight * static_cast<double>(Compute<T>::load(from[n.pixel]));
      }
      values[static_cast<size_t>(channel * s.taps + row % s.taps)] = sum;
    }
  }
}

template <class T>
void convolve(const RefContext& c, const Convolution& v, const Sizes& s, T* out) {
  const int64_t of_group = v.group_in * s.taps, outputs = v.groups * v.group_out;
  std::vector<double> values(static_cast<size_t>(s.channels * s.taps));
  Sampler sampler(v.axes);
  for (int64_t i = 0; i < v.images * s.out_pixels; ++i) {
    const int64_t image = i / s.out_pixels, o = i % s.out_pixels;
    gather<T>(c, v, s, image, o, sampler, values);
    for (int64_t m = 0; m < outputs; ++m) {
      const T* w = c.in(1).as<T>() + m * of_group;
      const double* x = values.data() + m / v.group_out * of_group;
      double sum = 0;
      for (int64_t k = 0; k < of_group; ++k)
        sum += x[k] * static_cast<double>(Compute<T>::load(w[k]));
      if (c.has_in(kBias)) {
        sum += static_cast<double>(Compute<T>::load(c.in(kBias).as<T>()[m]));
      }
      out[(image * outputs + m) * s.out_pixels + o] = convert_number<T>(sum);
    }
  }
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &w = c.in(1);
  HASTEN_TRY(const Dims y, convolution_shape(c, x.dims, w.dims));
  HASTEN_TRY(const Convolution v, read_convolution(c, x.dims, w.dims, y));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, y));
  if (count_of(y) == 0) return {};
  Sizes s;
  s.channels = x.dims[1];
  s.offset_groups = c.node().attr_int("offset_group", 1);
  s.kernel = Dims(w.dims.begin() + 2, w.dims.end());
  s.out = Dims(y.begin() + 2, y.end());
  s.taps = count_of(s.kernel);
  s.in_pixels = count_of(std::span(x.dims).subspan(2));
  s.out_pixels = count_of(s.out);
  dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    convolve<T>(c, v, s, static_cast<T*>(memory));
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_deform_conv() {
  return {{"",
           "DeformConv",
           19,
           kLastOpset,
           3,
           5,
           1,
           1,
           {"dilations", "group", "kernel_shape", "offset_group", "pads", "strides"},
           infer,
           reference}};
}

}  // namespace hasten
