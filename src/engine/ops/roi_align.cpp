// https://onnx.ai/onnx/operators/onnx__RoiAlign.html, opsets 10-15 (no shift by half a pixel) and
// 16-21, floats. Boxes are computed in the type of the input (f16 and bf16 in f32), as peers do:
// the number of samples depends on it. mode max takes, as ONNX's own test does, the largest term of
// the samples: a pixel times its weight.
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/indices.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

// Samples of a bin along an axis: taken from the size of the box, or asked for by the model.
constexpr int64_t kMostSamples = 1 << 20, kMostRatio = 1 << 12;

struct Params {
  bool max = false, half_pixel = true;
  int64_t height = 1, width = 1, ratio = 0;
  float scale = 1;
};

Result<Params> params_of(const OpContext& c) {
  Params p;
  const std::string mode = c.node().attr_string("mode", "avg");
  if (mode != "avg" && mode != "max") return c.invalid("mode is '{}', it must be avg or max", mode);
  p.max = mode == "max";
  const std::string how =
      c.node().attr_string("coordinate_transformation_mode",
                           c.node().def->since < 16 ? "output_half_pixel" : "half_pixel");
  if (how != "half_pixel" && how != "output_half_pixel") {
    return c.invalid(
        "coordinate_transformation_mode is '{}', it must be half_pixel or output_half_pixel", how);
  }
  p.half_pixel = how == "half_pixel";
  p.height = c.node().attr_int("output_height", 1);
  p.width = c.node().attr_int("output_width", 1);
  p.ratio = c.node().attr_int("sampling_ratio", 0);
  p.scale = c.node().attr_float("spatial_scale", 1.0f);
  for (const int64_t size : {p.height, p.width}) {
    if (size < 1 || size > INT32_MAX) {
      return c.invalid("the output is {} x {}, both must be between 1 and {}", p.height, p.width,
                       INT32_MAX);
    }
  }
  if (p.ratio < 0 || p.ratio > kMostRatio) {
    return c.invalid("sampling_ratio is {}, it must be between 0 and {}", p.ratio, kMostRatio);
  }
  return p;
}

Status infer(InferContext& c) {
  HASTEN_TRY(const Params p, params_of(c));
  const Facts &x = c.in(0), &rois = c.in(1), &images = c.in(2);
  HASTEN_CHECK(check_dtype(c, 0, kFloats));
  if (rois.dtype != DType::kNone && x.dtype != DType::kNone && rois.dtype != x.dtype) {
    return c.invalid("rois have dtype {}, X has {}", dtype_name(rois.dtype), dtype_name(x.dtype));
  }
  HASTEN_CHECK(check_int_list(c, images, "batch_indices", false));
  if (x.has_shape && x.rank() != 4) return c.invalid("X is {}, it must have rank 4", x.text());
  if (rois.has_shape && (rois.rank() != 2 || (rois.shape[1].known() && rois.shape[1] != Dim(4)))) {
    return c.invalid("rois are {}, they must be [n,4]", rois.text());
  }
  const Dim boxes = rois.has_shape ? rois.shape[0] : Dim::fresh();
  if (const auto n = list_length(images); n && boxes.known() && *n != boxes.value()) {
    return c.invalid("{} batch_indices for {} rois", *n, boxes.value());
  }
  Shape out{boxes, x.has_shape ? x.shape[1] : Dim::fresh(), Dim(p.height), Dim(p.width)};
  return set_checked(c, 0, x.dtype, std::move(out));
}

/// A sample that lies in the image along an axis: its two pixels and the weight of the second.
struct Line {
  int64_t low = 0, high = 0;
  double weight = 0;
};
template <class C>
Line line_at(C at, int64_t n) {
  Line l;
  at = std::max<C>(at, 0);
  l.low = std::min(static_cast<int64_t>(at), n - 1);
  l.high = std::min(l.low + 1, n - 1);
  l.weight = l.low == l.high ? 0 : static_cast<double>(at) - static_cast<double>(l.low);
  return l;
}

/// The samples [first, last) of a bin lie in the image: a box may be far larger than that.
struct Inside {
  int64_t first = 0, last = 0;
};

/// The first of [from, to) for which `holds` is false; it is true before and false behind.
template <class F>
int64_t first_not(const F& holds, int64_t from, int64_t to) {
  while (from < to) {
    const int64_t middle = from + (to - from) / 2;
    if (holds(middle)) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

/// Where the bins of a box lie along one axis.
template <class C>
struct BoxAxis {
  C start = 0, bin = 0;
  int64_t samples = 0;  // of each bin

  C at(int64_t bin_index, int64_t sample) const {
    return start + static_cast<C>(bin_index) * bin +
           (static_cast<C>(sample) + C(0.5)) * bin / static_cast<C>(samples);
  }

  /// Of an axis of n pixels. Samples ascend or descend, so that two searches find them.
  Inside inside(int64_t bin_index, int64_t n) const {
    if (n == 0) return {};
    const auto before = [&](int64_t sample) {
      return bin < 0 ? !(at(bin_index, sample) <= static_cast<C>(n))
                     : !(at(bin_index, sample) >= -1);
    };
    const auto not_behind = [&](int64_t sample) {
      return bin < 0 ? at(bin_index, sample) >= -1 : at(bin_index, sample) <= static_cast<C>(n);
    };
    const int64_t first = first_not(before, 0, samples);
    return {first, first_not(not_behind, first, samples)};
  }
};
template <class C>
Result<BoxAxis<C>> box_axis(const OpContext& c, const Params& p, C from, C to, int64_t bins) {
  const C offset = p.half_pixel ? C(0.5) : C(0), scale = static_cast<C>(p.scale);
  BoxAxis<C> a;
  a.start = from * scale - offset;
  C size = to * scale - offset - a.start;
  if (!p.half_pixel) size = std::max(size, C(1));
  a.bin = size / static_cast<C>(bins);
  a.samples = p.ratio;
  if (p.ratio == 0) {
    const C samples = std::ceil(a.bin);
    if (!(samples <= C(kMostSamples))) {
      return c.invalid("a box from {} to {} is no box to be sampled", from, to);
    }
    a.samples = std::max<int64_t>(static_cast<int64_t>(std::max(samples, C(0))), 0);
  }
  return a;
}

template <class T>
Status align(RefContext& c, const Params& p, const std::vector<int64_t>& images, T* out) {
  using C = typename Compute<T>::type;
  const TensorView &x = c.in(0), &rois = c.in(1);
  const int64_t channels = x.dims[1], height = x.dims[2], width = x.dims[3];
  for (size_t r = 0; r < images.size(); ++r) {
    C box[4];
    for (size_t k = 0; k < 4; ++k) box[k] = Compute<T>::load(rois.as<T>()[r * 4 + k]);
    HASTEN_TRY(const BoxAxis<C> across, box_axis<C>(c, p, box[0], box[2], p.width));
    HASTEN_TRY(const BoxAxis<C> down, box_axis<C>(c, p, box[1], box[3], p.height));
    const auto count = static_cast<double>(std::max<int64_t>(across.samples * down.samples, 1));
    for (int64_t ch = 0; ch < channels; ++ch) {
      const T* plane = x.as<T>() + (images[r] * channels + ch) * height * width;
      const auto pixel = [&](int64_t row, int64_t column) {
        return static_cast<double>(Compute<T>::load(plane[row * width + column]));
      };
      for (int64_t bin = 0; bin < p.height * p.width; ++bin) {
        const int64_t row = bin / p.width, column = bin % p.width;
        const Inside rows = down.inside(row, height), columns = across.inside(column, width);
        // Samples outside count as zeros.
        const bool all = rows.first == 0 && columns.first == 0 && rows.last == down.samples &&
                         columns.last == across.samples;
        bool any = rows.first > 0 || columns.first > 0;
        double result = 0;
        for (int64_t i = rows.first; i < rows.last; ++i) {
          const Line v = line_at<C>(down.at(row, i), height);
          for (int64_t j = columns.first; j < columns.last; ++j) {
            const Line h = line_at<C>(across.at(column, j), width);
            const double part[4] = {(1 - v.weight) * (1 - h.weight) * pixel(v.low, h.low),
                                    (1 - v.weight) * h.weight * pixel(v.low, h.high),
                                    v.weight * (1 - h.weight) * pixel(v.high, h.low),
                                    v.weight * h.weight * pixel(v.high, h.high)};
            if (p.max) {
              const double most = std::max({part[0], part[1], part[2], part[3]});
              result = any ? std::max(result, most) : most;
              any = true;
            } else {
              result += (part[0] + part[1] + part[2] + part[3]) / count;
            }
          }
        }
        if (p.max && !all) result = std::max(result, 0.0);
        *out++ = convert_number<T>(result);
      }
    }
  }
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(const Params p, params_of(c));
  const TensorView& x = c.in(0);
  const std::vector<int64_t> images = read_ints(c.in(2));
  for (const int64_t image : images) {
    if (image < 0 || image >= x.dims[0]) {
      return c.invalid("batch_indices name image {} of {}", image, x.dims[0]);
    }
  }
  HASTEN_TRY(
      void* memory,
      c.out(0, x.dtype, {static_cast<int64_t>(images.size()), x.dims[1], p.height, p.width}));
  Status status;
  dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    status = align<T>(c, p, images, static_cast<T*>(memory));
  });
  return status;
}

}  // namespace

std::vector<OpDef> ops_roi_align() {
  OpDef first{"",
              "RoiAlign",
              10,
              15,
              3,
              3,
              1,
              1,
              {"mode", "output_height", "output_width", "sampling_ratio", "spatial_scale"},
              infer,
              reference};
  OpDef now = first;
  now.since = 16;
  now.until = kLastOpset;
  now.attrs.push_back("coordinate_transformation_mode");
  return {first, now};
}

}  // namespace hasten
