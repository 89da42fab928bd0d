// https://onnx.ai/onnx/operators/onnx__MaxRoiPool.html, opsets 1-21, floats. As in Fast R-CNN,
// where it is from: corners are rounded to pixels and belong to the box, which has at least one
// pixel; bins overlap where they don't divide evenly; an empty bin gives 0.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Result<Dims> pooled_shape(const OpContext& c) {
  const Dims shape = c.node().attr_ints("pooled_shape");
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > INT32_MAX ||
      shape[1] > INT32_MAX) {
    return c.invalid("pooled_shape is {}, it must be two positive numbers", dims_text(shape));
  }
  return shape;
}

Status infer(InferContext& c) {
  HASTEN_TRY(const Dims pooled, pooled_shape(c));
  HASTEN_CHECK(check_same_dtype(c));
  HASTEN_CHECK(check_dtype(c, 0, kFloats));
  const Facts &x = c.in(0), &rois = c.in(1);
  if (x.has_shape && x.rank() != 4) return c.invalid("X is {}, it must have rank 4", x.text());
  if (rois.has_shape && (rois.rank() != 2 || (rois.shape[1].known() && rois.shape[1] != Dim(5)))) {
    return c.invalid("rois are {}, they must be [n,5]", rois.text());
  }
  Shape out{rois.has_shape ? rois.shape[0] : Dim::fresh(), x.has_shape ? x.shape[1] : Dim::fresh(),
            Dim(pooled[0]), Dim(pooled[1])};
  return set_checked(c, 0, x.dtype, std::move(out));
}

/// Pixels [begin, end) of one bin of `bins`, of a box from pixel `first` to pixel `last`.
struct Bin {
  int64_t begin, end;
};
Bin bin_of(int64_t first, int64_t last, int64_t bin, int64_t bins, int64_t length) {
  const int64_t size = std::max<int64_t>(last - first + 1, 1);
  const int64_t begin = first + bin * size / bins;
  const int64_t end = first + ((bin + 1) * size + bins - 1) / bins;
  return {std::clamp<int64_t>(begin, 0, length), std::clamp<int64_t>(end, 0, length)};
}

Status reference(RefContext& c) {
  HASTEN_TRY(const Dims pooled, pooled_shape(c));
  const TensorView &x = c.in(0), &rois = c.in(1);
  const double scale = c.node().attr_float("spatial_scale", 1.0f);
  const int64_t channels = x.dims[1], height = x.dims[2], width = x.dims[3];
  HASTEN_TRY(void* memory, c.out(0, x.dtype, {rois.dims[0], channels, pooled[0], pooled[1]}));
  Status status;
  dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = typename Compute<T>::type;
    T* out = static_cast<T*>(memory);
    for (int64_t r = 0; r < rois.dims[0]; ++r) {
      int64_t box[5];
      for (int64_t k = 0; k < 5; ++k) {
        const auto v = static_cast<double>(Compute<T>::load(rois.as<T>()[r * 5 + k]));
        const double at = k == 0 ? v : std::round(v * scale);
        if (!(std::abs(at) < 0x1p30)) {
          status = c.invalid("box {} has the number {}", r, v);
          return;
        }
        box[k] = static_cast<int64_t>(at);
      }
      if (box[0] < 0 || box[0] >= x.dims[0]) {
        status = c.invalid("box {} is of image {} of {}", r, box[0], x.dims[0]);
        return;
      }
      for (int64_t ch = 0; ch < channels; ++ch) {
        const T* plane = x.as<T>() + (box[0] * channels + ch) * height * width;
        for (int64_t i = 0; i < pooled[0] * pooled[1]; ++i) {
          const Bin v = bin_of(box[2], box[4], i / pooled[1], pooled[0], height);
          const Bin h = bin_of(box[1], box[3], i % pooled[1], pooled[1], width);
          C best = 0;
          bool found = false;
          for (int64_t row = v.begin; row < v.end; ++row) {
            for (int64_t column = h.begin; column < h.end; ++column) {
              const C value = Compute<T>::load(plane[row * width + column]);
              if (!found || value > best || std::isnan(value)) best = value;
              found = true;
            }
          }
          *out++ = Compute<T>::store(best);
        }
      }
    }
  });
  return status;
}

}  // namespace

std::vector<OpDef> ops_max_roi_pool() {
  return {{"",
           "MaxRoiPool",
           1,
           kLastOpset,
           2,
           2,
           1,
           1,
           {"pooled_shape", "spatial_scale"},
           infer,
           reference}};
}

}  // namespace hasten
