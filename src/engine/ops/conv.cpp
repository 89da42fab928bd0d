// https://onnx.ai/onnx/operators/onnx__Conv.html, opsets 1-21, f32 f64 f16 bf16, any number of
// spatial axes. hasten.Conv (made by passes) also adds a residual and applies an activation:
// (X, W, B?, residual?), attributes of Conv, `activation`, `activation_params`.
#include "engine/ops/convolution.h"
#include "engine/ops/table.h"

namespace hasten {

namespace {

bool fused(const OpContext& c) { return c.node().domain == "hasten"; }

/// Everything once all sizes are known.
Result<Convolution> read_sizes(const OpContext& c, const Dims& x, const Dims& w, const Dims& y) {
  Convolution v;
  v.groups = c.node().attr_int("group", 1);
  v.images = x[0];
  v.group_in = w[1];
  v.group_out = w[0] / v.groups;
  const size_t rank = x.size() - 2;
  HASTEN_TRY(const Window window, read_window(c, rank, Dims(w.begin() + 2, w.end())));
  for (size_t i = 0; i < rank; ++i) {
    WindowAxis a;
    a.in = x[i + 2];
    a.out = y[i + 2];
    a.kernel = window.kernel[i];
    a.stride = window.strides[i];
    a.dilation = window.dilations[i];
    resolve_pads(window, i, a.in, &a.pad, &a.pad_end);
    v.axes.push_back(a);
  }
  if (fused(c)) {
    HASTEN_TRY(v.activation, read_activation(c));
  }
  return v;
}

Status check_dtypes(const InferContext& c) {
  const DType dtype = c.in(0).dtype;
  if (dtype != DType::kNone && !is_float(dtype)) {
    return c.invalid("input has dtype {}, a float is needed", dtype_name(dtype));
  }
  for (size_t i = 1; i < c.inputs(); ++i) {
    if (!c.has_in(i) || c.in(i).dtype == DType::kNone || dtype == DType::kNone) continue;
    if (c.in(i).dtype != dtype) {
      return c.invalid("input {} has dtype {}, input 0 has {}", i, dtype_name(c.in(i).dtype),
                       dtype_name(dtype));
    }
  }
  return {};
}

Status check_bias(const InferContext& c, Dim channels) {
  if (!c.has_in(2) || !c.in(2).has_shape) return {};
  const Shape& bias = c.in(2).shape;
  if (bias.size() != 1 || (bias[0].known() && channels.known() && bias[0] != channels)) {
    return c.invalid("bias has shape {}, the output has {} channels", shape_text(bias),
                     channels.text());
  }
  return {};
}

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtypes(c));
  if (fused(c)) HASTEN_CHECK(read_activation(c));
  const Facts &x = c.in(0), &w = c.in(1);
  const int64_t group = c.node().attr_int("group", 1);
  if (group < 1) return c.invalid("group is {}, it must be at least 1", group);
  for (const Facts* f : {&x, &w}) {
    if (f->has_shape && f->rank() < 3) {
      return c.invalid("{} is {}, at least 3 dimensions are needed", f == &x ? "input" : "weight",
                       f->text());
    }
  }
  if (x.has_shape && w.has_shape && x.rank() != w.rank()) {
    return c.invalid("input is {}, weight is {}: the ranks differ", x.text(), w.text());
  }
  if (!x.has_shape && !w.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  const size_t rank = (x.has_shape ? x.rank() : w.rank()) - 2;
  Dims kernel;
  Dim channels = Dim::fresh();
  if (w.has_shape) {
    channels = w.shape[0];
    const Shape spatial(w.shape.begin() + 2, w.shape.end());
    if (is_known(spatial)) kernel = to_dims(spatial);
    if (channels.known() && channels.value() % group != 0) {
      return c.invalid("weight has {} output channels, which {} groups don't divide",
                       channels.value(), group);
    }
    if (x.has_shape && w.shape[1].known() && x.shape[1].known() &&
        (w.shape[1].value() > INT64_MAX / group ||
         w.shape[1].value() * group != x.shape[1].value())) {
      return c.invalid("weight has {} input channels in {} group(s), input has {}",
                       w.shape[1].value(), group, x.shape[1].value());
    }
  }
  HASTEN_CHECK(check_bias(c, channels));
  Shape out(rank + 2);
  if (kernel.empty() && c.node().attr_ints("kernel_shape").empty()) {
    for (Dim& d : out) d = Dim::fresh();
    if (x.has_shape) out[0] = x.shape[0];
    out[1] = channels;
  } else {
    HASTEN_TRY(const Window window, read_window(c, rank, kernel));
    Shape in = x.shape;
    if (!x.has_shape) {
      in.resize(rank + 2);
      for (Dim& d : in) d = Dim::fresh();
    }
    HASTEN_TRY(out, window_shape(c, window, in, channels));
  }
  if (c.has_in(3) && c.in(3).has_shape && is_known(out) && c.in(3).known_shape() &&
      c.in(3).shape != out) {
    return c.invalid("residual is {}, the output is {}", c.in(3).text(), shape_text(out));
  }
  c.set(0, x.dtype, std::move(out));
  return {};
}

Status reference(RefContext& c) {
  const Dims &x = c.in(0).dims, &w = c.in(1).dims;
  HASTEN_TRY(const Window window, read_window(c, x.size() - 2, Dims(w.begin() + 2, w.end())));
  HASTEN_TRY(const Shape y, window_shape(c, window, to_shape(x), Dim(w[0])));
  HASTEN_TRY(const Convolution v, read_sizes(c, x, w, to_dims(y)));
  return reference_convolution(c, v, to_dims(y));
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const Convolution v, read_sizes(c, c.in_dims(0), c.in_dims(1), c.out_dims(0)));
  return lower_convolution(c, v);
}

}  // namespace

std::vector<OpDef> ops_conv() {
  const std::vector<const char*> attrs = {"auto_pad",     "dilations", "group",
                                          "kernel_shape", "pads",      "strides"};
  OpDef conv{"", "Conv", 1, kLastOpset, 2, 3, 1, 1, attrs, infer, reference, lower};
  OpDef with_more = conv;
  with_more.domain = "hasten";
  with_more.max_inputs = 4;
  with_more.attrs.push_back("activation");
  with_more.attrs.push_back("activation_params");
  return {conv, with_more};
}

}  // namespace hasten
