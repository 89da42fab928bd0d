// Sizes of Conv and its integer kin.
#include "engine/ops/convolution.h"

namespace hasten {

namespace {

Status check_bias(const InferContext& c, size_t i, Dim channels) {
  if (!c.has_in(i) || !c.in(i).has_shape) return {};
  const Shape& bias = c.in(i).shape;
  if (bias.size() != 1 || (bias[0].known() && channels.known() && bias[0] != channels)) {
    return c.invalid("bias has shape {}, the output has {} channels", shape_text(bias),
                     channels.text());
  }
  return {};
}

}  // namespace

Result<int64_t> check_group_and_ranks(const OpContext& c, const Facts& x, const Facts& w) {
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
  return group;
}

Status infer_convolution(InferContext& c, const ConvolutionInputs& in, DType dtype) {
  const Facts &x = c.in(in.x), &w = c.in(in.w);
  HASTEN_TRY(const int64_t group, check_group_and_ranks(c, x, w));
  if (!x.has_shape && !w.has_shape) {
    c.set_unknown(0, dtype);
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
  HASTEN_CHECK(check_bias(c, in.bias, channels));
  Shape out(rank + 2);
  if (kernel.empty() && c.node().attr_ints("kernel_shape").empty()) {
    for (Dim& d : out) d = Dim::fresh();
    if (x.has_shape) out[0] = x.shape[0];
    out[1] = channels;
  } else {
    HASTEN_TRY(const Window window, read_window(c, rank, kernel));
    Shape from = x.shape;
    if (!x.has_shape) {
      from.resize(rank + 2);
      for (Dim& d : from) d = Dim::fresh();
    }
    HASTEN_TRY(out, window_shape(c, window, from, channels));
  }
  c.set(0, dtype, std::move(out));
  return {};
}

Result<Dims> convolution_shape(const OpContext& c, const Dims& x, const Dims& w) {
  HASTEN_TRY(const Window window, read_window(c, x.size() - 2, Dims(w.begin() + 2, w.end())));
  HASTEN_TRY(const Shape y, window_shape(c, window, to_shape(x), Dim(w[0])));
  return to_dims(y);
}

Result<Convolution> read_convolution(const OpContext& c, const Dims& x, const Dims& w,
                                     const Dims& y) {
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
  return v;
}

}  // namespace hasten
