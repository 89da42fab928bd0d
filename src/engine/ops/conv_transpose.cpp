// https://onnx.ai/onnx/operators/onnx__ConvTranspose.html, opsets 1-21, f32 f64 f16 bf16, any
// number of spatial axes. Each output gathers what reaches it, so that it is a convolution over the
// taps that fit its position; the kernels are those of Conv. hasten.ConvTranspose (made by passes)
// also adds a residual and applies an activation, as hasten.Conv does.
#include "engine/ops/convolution.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

/// output_padding or output_shape, empty where absent.
Result<Dims> read_list(const OpContext& c, const char* name, size_t count, int64_t least) {
  Dims values = c.node().attr_ints(name);
  if (values.empty()) return values;
  if (values.size() != count) {
    return c.invalid("{} has {} numbers, {} are needed", name, values.size(), count);
  }
  for (int64_t v : values) {
    if (v < least || v > INT32_MAX) {
      return c.invalid("{} is {}, each number must be between {} and {}", name, dims_text(values),
                       least, INT32_MAX);
    }
  }
  return values;
}

struct Sizes {
  Window window;
  Dims output_padding, output_shape;
};

Result<Sizes> read_attributes(const OpContext& c, size_t rank, const Dims& kernel) {
  Sizes s;
  HASTEN_TRY(s.window, read_window(c, rank, kernel));
  HASTEN_TRY(s.output_padding, read_list(c, "output_padding", rank, 0));
  // Some exporters put batch and channels before the spatial sizes.
  Dims shape = c.node().attr_ints("output_shape");
  if (shape.size() == rank + 2) {
    HASTEN_TRY(shape, read_list(c, "output_shape", rank + 2, 0));
    s.output_shape.assign(shape.begin() + 2, shape.end());
  } else {
    HASTEN_TRY(s.output_shape, read_list(c, "output_shape", rank, 0));
  }
  for (size_t i = 0; i < s.output_padding.size(); ++i) {
    const int64_t limit = std::max(s.window.strides[i], s.window.dilations[i]);
    if (s.output_padding[i] >= limit) {
      return c.invalid("output_padding {} of axis {} must be less than its stride or dilation ({})",
                       s.output_padding[i], i + 2, limit);
    }
  }
  return s;
}

Result<Shape> output_shape(const OpContext& c, const Sizes& s, const Shape& in, Dim channels) {
  Shape out = {in[0], channels};
  for (size_t i = 0; i < s.window.rank(); ++i) {
    const Dim d = in[i + 2];
    if (d.known()) {
      HASTEN_TRY(const TransposedAxis a,
                 transposed_axis(c, s.window, i, d.value(), s.output_padding, s.output_shape));
      out.push_back(Dim(a.out));
    } else if (!s.output_shape.empty()) {
      out.push_back(Dim(s.output_shape[i]));
    } else {
      const bool same =
          s.window.auto_pad == AutoPad::kSameUpper || s.window.auto_pad == AutoPad::kSameLower;
      const int64_t pads = s.window.pads_begin[i] + s.window.pads_end[i];
      const int64_t more = s.output_padding.empty() ? 0 : s.output_padding[i];
      const bool keeps = same || s.window.extent(i) - 1 + more == pads;
      out.push_back(s.window.strides[i] == 1 && keeps ? d : Dim::fresh());
    }
  }
  if (is_known(out)) {
    if (auto n = checked_count(to_dims(out)); !n) return c.invalid("{}", n.error().message);
  }
  return out;
}

bool fused(const OpContext& c) { return c.node().domain == "hasten"; }

Result<Convolution> read_sizes(const OpContext& c, const Dims& x, const Dims& w) {
  Convolution v;
  if (fused(c)) {
    HASTEN_TRY(v.activation, read_activation(c));
  }
  v.transposed = true;
  v.groups = c.node().attr_int("group", 1);
  v.images = x[0];
  v.group_in = w[0] / v.groups;
  v.group_out = w[1];
  const size_t rank = x.size() - 2;
  HASTEN_TRY(const Sizes s, read_attributes(c, rank, Dims(w.begin() + 2, w.end())));
  for (size_t i = 0; i < rank; ++i) {
    HASTEN_TRY(const TransposedAxis sizes,
               transposed_axis(c, s.window, i, x[i + 2], s.output_padding, s.output_shape));
    WindowAxis a;
    a.in = x[i + 2];
    a.out = sizes.out;
    a.pad = sizes.pad_begin;
    a.kernel = s.window.kernel[i];
    a.stride = s.window.strides[i];
    a.dilation = s.window.dilations[i];
    a.transposed = true;
    v.axes.push_back(a);
  }
  return v;
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &w = c.in(1), &bias = c.in(2), &residual = c.in(3);
  if (fused(c)) HASTEN_CHECK(read_activation(c));
  for (const Facts* f : {&x, &w, &bias, &residual}) {
    if (f->dtype == DType::kNone) continue;
    if (!is_float(f->dtype)) return c.invalid("dtype {}, a float is needed", dtype_name(f->dtype));
    if (x.dtype != DType::kNone && f->dtype != x.dtype) {
      return c.invalid("input has dtype {}, weight, bias or residual {}", dtype_name(x.dtype),
                       dtype_name(f->dtype));
    }
  }
  HASTEN_TRY(const int64_t group, check_group_and_ranks(c, x, w));
  if (!x.has_shape || !w.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  const Dim channels_in = w.shape[0];
  if (channels_in.known()) {
    if (channels_in.value() % group != 0) {
      return c.invalid("weight has {} input channels, which {} groups don't divide",
                       channels_in.value(), group);
    }
    if (x.shape[1].known() && x.shape[1] != channels_in) {
      return c.invalid("weight has {} input channels, input has {}", channels_in.value(),
                       x.shape[1].value());
    }
  }
  Dim channels = group == 1 ? w.shape[1] : Dim::fresh();
  if (w.shape[1].known()) {
    const int64_t each[] = {w.shape[1].value(), group};
    HASTEN_TRY(const int64_t product, checked_count(each));
    channels = Dim(product);
  }
  if (bias.has_shape && (bias.rank() != 1 || (bias.shape[0].known() && channels.known() &&
                                              bias.shape[0] != channels))) {
    return c.invalid("bias has shape {}, the output has {} channels", shape_text(bias.shape),
                     channels.text());
  }
  const size_t rank = x.rank() - 2;
  const Shape spatial(w.shape.begin() + 2, w.shape.end());
  if (!is_known(spatial) && c.node().attr_ints("kernel_shape").empty()) {
    Shape out(rank + 2);
    for (Dim& d : out) d = Dim::fresh();
    out[0] = x.shape[0];
    out[1] = channels;
    c.set(0, x.dtype, std::move(out));
    return {};
  }
  HASTEN_TRY(const Sizes sizes,
             read_attributes(c, rank, is_known(spatial) ? to_dims(spatial) : Dims{}));
  HASTEN_TRY(Shape out, output_shape(c, sizes, x.shape, channels));
  if (is_known(out) && residual.known_shape() && residual.shape != out) {
    return c.invalid("residual is {}, the output is {}", residual.text(), shape_text(out));
  }
  c.set(0, x.dtype, std::move(out));
  return {};
}

Status reference(RefContext& c) {
  const Dims &x = c.in(0).dims, &w = c.in(1).dims;
  HASTEN_TRY(const Convolution v, read_sizes(c, x, w));
  Dims out = {x[0], w[1] * v.groups};
  for (const WindowAxis& a : v.axes) out.push_back(a.out);
  HASTEN_CHECK(checked_count(out));
  return reference_convolution(c, v, out);
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const Convolution v, read_sizes(c, c.in_dims(0), c.in_dims(1)));
  return lower_convolution(c, v);
}

}  // namespace

std::vector<OpDef> ops_conv_transpose() {
  const std::vector<const char*> attrs = {"auto_pad",       "dilations",    "group", "kernel_shape",
                                          "output_padding", "output_shape", "pads",  "strides"};
  OpDef plain{"", "ConvTranspose", 1, kLastOpset, 2, 3, 1, 1, attrs, infer, reference, lower};
  OpDef with_more = plain;
  with_more.domain = "hasten";
  with_more.max_inputs = 4;
  with_more.attrs.push_back("activation");
  with_more.attrs.push_back("activation_params");
  return {plain, with_more};
}

}  // namespace hasten
