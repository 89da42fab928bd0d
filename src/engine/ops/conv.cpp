// https://onnx.ai/onnx/operators/onnx__Conv.html, opsets 1-21, f32 f64 f16 bf16, any number of
// spatial axes. hasten.Conv (made by passes) also adds a residual and applies an activation:
// (X, W, B?, residual?), attributes of Conv, `activation`, `activation_params`.
#include "engine/ops/convolution.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

bool fused(const OpContext& c) { return c.node().domain == "hasten"; }

Result<Convolution> read_sizes(const OpContext& c, const Dims& x, const Dims& w, const Dims& y) {
  HASTEN_TRY(Convolution v, read_convolution(c, x, w, y));
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

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtypes(c));
  if (fused(c)) HASTEN_CHECK(read_activation(c));
  HASTEN_CHECK(infer_convolution(c, {}, c.in(0).dtype));
  if (c.has_in(3) && c.in(3).known_shape() && c.out(0).known_shape() &&
      c.in(3).shape != c.out(0).shape) {
    return c.invalid("residual is {}, the output is {}", c.in(3).text(), c.out(0).text());
  }
  return {};
}

Status reference(RefContext& c) {
  const Dims &x = c.in(0).dims, &w = c.in(1).dims;
  HASTEN_TRY(const Dims y, convolution_shape(c, x, w));
  HASTEN_TRY(const Convolution v, read_sizes(c, x, w, y));
  return reference_convolution(c, v, y);
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
