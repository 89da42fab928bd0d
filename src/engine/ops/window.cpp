#include "engine/ops/window.h"

#include <algorithm>

namespace hasten {

namespace {

constexpr int64_t kMost = INT32_MAX;

/// An attribute of `count` integers in [least, 2^31), or `count` times `otherwise`.
Result<Dims> read_ints(const OpContext& c, const char* name, size_t count, int64_t least,
                       int64_t otherwise) {
  const Attr* attr = c.node().find_attr(name);
  Dims values = c.node().attr_ints(name);
  // Some exporters write an empty list for "none given".
  if (attr == nullptr || values.empty()) return Dims(count, otherwise);
  if (values.size() != count) {
    return c.invalid("{} has {} numbers, {} are needed", name, values.size(), count);
  }
  for (int64_t v : values) {
    if (v < least || v > kMost) {
      return c.invalid("{} is {}, each number must be between {} and {}", name, dims_text(values),
                       least, kMost);
    }
  }
  return values;
}

}  // namespace

Result<Window> read_window(const OpContext& c, size_t rank, const Dims& kernel) {
  Window w;
  const Dims given = c.node().attr_ints("kernel_shape");
  if (kernel.empty() && given.empty()) return c.invalid("kernel_shape is missing");
  HASTEN_TRY(w.kernel, read_ints(c, "kernel_shape", rank, 1, 1));
  if (!kernel.empty()) {
    if (!given.empty() && w.kernel != kernel) {
      return c.invalid("kernel_shape is {}, the weight has {}", dims_text(given),
                       dims_text(kernel));
    }
    w.kernel = kernel;
    for (int64_t k : kernel) {
      if (k < 1 || k > kMost) return c.invalid("the weight has the kernel {}", dims_text(kernel));
    }
  }
  HASTEN_TRY(w.strides, read_ints(c, "strides", rank, 1, 1));
  HASTEN_TRY(w.dilations, read_ints(c, "dilations", rank, 1, 1));
  HASTEN_TRY(const Dims pads, read_ints(c, "pads", 2 * rank, 0, 0));
  const std::string auto_pad = c.node().attr_string("auto_pad", "NOTSET");
  if (auto_pad == "VALID") {
    w.auto_pad = AutoPad::kValid;
  } else if (auto_pad == "SAME_UPPER") {
    w.auto_pad = AutoPad::kSameUpper;
  } else if (auto_pad == "SAME_LOWER") {
    w.auto_pad = AutoPad::kSameLower;
  } else if (auto_pad != "NOTSET" && !auto_pad.empty()) {
    return c.invalid("auto_pad is '{}', it must be NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                     auto_pad);
  }
  if (w.auto_pad == AutoPad::kNotSet) {
    w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<int64_t>(rank));
    w.pads_end.assign(pads.begin() + static_cast<int64_t>(rank), pads.end());
  } else {
    w.pads_begin.assign(rank, 0);
    w.pads_end.assign(rank, 0);
  }
  w.ceil_mode = c.node().attr_int("ceil_mode", 0) != 0;
  return w;
}

void resolve_pads(const Window& w, size_t axis, int64_t in, int64_t* begin, int64_t* end) {
  *begin = w.pads_begin[axis];
  *end = w.pads_end[axis];
  if (w.auto_pad == AutoPad::kNotSet || w.auto_pad == AutoPad::kValid || in == 0) return;
  const int64_t stride = w.strides[axis];
  const int64_t out = (in - 1) / stride + 1;
  const int64_t total = std::max<int64_t>(0, (out - 1) * stride + w.extent(axis) - in);
  const int64_t less = total / 2;
  *begin = w.auto_pad == AutoPad::kSameUpper ? less : total - less;
  *end = total - *begin;
}

Result<Dim> window_output(const OpContext& c, const Window& w, size_t axis, Dim in) {
  const int64_t stride = w.strides[axis], extent = w.extent(axis);
  const bool same = w.auto_pad == AutoPad::kSameUpper || w.auto_pad == AutoPad::kSameLower;
  if (!in.known()) {
    const bool keeps = same || w.pads_begin[axis] + w.pads_end[axis] == extent - 1;
    return stride == 1 && keeps ? in : Dim::fresh();
  }
  const int64_t size = in.value();
  if (same) return size == 0 ? Dim(0) : Dim((size - 1) / stride + 1);
  const int64_t begin = w.pads_begin[axis], end = w.pads_end[axis];
  if (size > INT64_MAX / 2) return c.invalid("the input has the dimension {}", size);
  const int64_t left = size + begin + end - extent;
  if (left < 0) {
    if (size == 0) return Dim(0);
    return c.invalid(
        "the kernel covers {} elements of axis {}, the input has {} with {} of padding", extent,
        axis + 2, size, begin + end);
  }
  int64_t out = left / stride + 1;
  if (w.ceil_mode && w.auto_pad == AutoPad::kNotSet) {
    out = (left + stride - 1) / stride + 1;
    if ((out - 1) * stride >= size + begin) --out;
  }
  return Dim(out);
}

Result<Shape> window_shape(const OpContext& c, const Window& w, const Shape& in, Dim channels) {
  Shape out = {in[0], channels};
  for (size_t i = 0; i < w.rank(); ++i) {
    HASTEN_TRY(const Dim d, window_output(c, w, i, in[i + 2]));
    out.push_back(d);
  }
  if (is_known(out)) {
    if (auto n = checked_count(to_dims(out)); !n) return c.invalid("{}", n.error().message);
  }
  return out;
}

Result<TransposedAxis> transposed_axis(const OpContext& c, const Window& w, size_t axis, int64_t in,
                                       const Dims& output_padding, const Dims& output_shape) {
  const int64_t stride = w.strides[axis];
  const int64_t more = output_padding.empty() ? 0 : output_padding[axis];
  if (in > INT32_MAX) return c.invalid("the input has the dimension {}", in);
  // Every position that some tap reaches, and the output padding.
  const int64_t whole = in == 0 ? 0 : stride * (in - 1) + w.extent(axis) + more;
  const bool same = w.auto_pad == AutoPad::kSameUpper || w.auto_pad == AutoPad::kSameLower;
  TransposedAxis a;
  if (same || !output_shape.empty()) {
    a.out = output_shape.empty() ? in * stride : output_shape[axis];
    const int64_t total = std::max<int64_t>(0, whole - a.out);
    const int64_t less = total / 2;
    a.pad_begin = w.auto_pad == AutoPad::kSameUpper ? less : total - less;
    return a;
  }
  a.pad_begin = w.pads_begin[axis];
  a.out = whole - a.pad_begin - w.pads_end[axis];
  if (a.out < 0 && in == 0) a.out = 0;
  if (a.out < 0) {
    return c.invalid("the pads {} and {} of axis {} take more than the {} elements that there are",
                     a.pad_begin, w.pads_end[axis], axis + 2, whole);
  }
  return a;
}

Taps window_taps(int64_t o, int64_t stride, int64_t dilation, int64_t pad, int64_t kernel,
                 int64_t in) {
  const int64_t start = o * stride - pad;
  Taps t;
  t.first = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const int64_t end = in > start ? std::min(kernel, (in - start + dilation - 1) / dilation) : 0;
  t.count = std::max<int64_t>(0, end - t.first);
  t.position = start + t.first * dilation;
  if (t.count == 0) t.first = t.position = 0;
  return t;
}

}  // namespace hasten
