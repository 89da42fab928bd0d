// https://onnx.ai/onnx/operators/onnx__Upsample.html, opsets 7-9 (Resize since 10): nearest of
// every dtype, linear of every number; coordinates are "asymmetric", nearest rounds down.
#include "engine/ops/op.h"
#include "engine/ops/resize_math.h"

namespace hasten {

namespace {

Result<ResizeRules> rules_of(const OpContext& c) {
  ResizeRules rules;
  rules.coordinates = ResizeRules::Coordinates::kAsymmetric;
  rules.rounding = ResizeRules::Rounding::kFloor;
  const std::string mode = c.node().attr_string("mode", "nearest");
  if (mode == "linear" || mode == "bilinear") {
    rules.mode = ResizeRules::Mode::kLinear;
  } else if (mode != "nearest") {
    return c.invalid("mode '{}' is neither 'nearest' nor 'linear'", mode);
  }
  return rules;
}

/// The scales, if known; they only enlarge.
template <class Context>
Result<ResizeOperands> operands_of(const Context& c, const TensorView& input) {
  ResizeOperands o;
  if (c.node().version < 9) {
    if (c.node().find_attr("scales") == nullptr) return c.invalid("attribute 'scales' is missing");
    o.scales = c.node().attr_floats("scales");
  } else if (input.dtype == DType::kF32) {
    o.scales.emplace(input.as<float>(), input.as<float>() + input.count());
  }
  for (size_t i = 0; o.scales && i < o.scales->size(); ++i) {
    if (!((*o.scales)[i] >= 1))
      return c.invalid("scale {} of axis {} is below 1", (*o.scales)[i], i);
  }
  return o;
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_TRY(const ResizeRules rules, rules_of(c));
  HASTEN_CHECK(check_resize_dtype(c, rules, x.dtype));
  const Facts& scales = c.in(1);
  if (scales.dtype != DType::kNone && scales.dtype != DType::kF32) {
    return c.invalid("scales have dtype {}, they must be f32", dtype_name(scales.dtype));
  }
  HASTEN_TRY(const ResizeOperands o, operands_of(c, scales.value.view()));
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  if (!o.scales) {
    Shape shape(x.rank());
    for (Dim& d : shape) d = Dim::fresh();
    c.set(0, x.dtype, std::move(shape));
    return {};
  }
  HASTEN_TRY(Shape shape, resized_shape(c, rules, x.shape, o));
  c.set(0, x.dtype, std::move(shape));
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(const ResizeRules rules, rules_of(c));
  HASTEN_TRY(const ResizeOperands o, operands_of(c, c.in(1)));
  HASTEN_TRY(const std::vector<ResizeAxis> axes, resize_axes(c, rules, c.in(0).dims, o));
  return reference_resize(c, rules, axes);
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const ResizeRules rules, rules_of(c));
  HASTEN_TRY(const ResizeOperands o, operands_of(c, c.in(1).value.view()));
  if (!o.scales) {
    c.refuse("map_axes", "scales known only at run time");
    return {};
  }
  HASTEN_TRY(std::vector<ResizeAxis> axes, resize_axes(c, rules, c.in_dims(0), o));
  return lower_resize(c, rules, std::move(axes));
}

}  // namespace

std::vector<OpDef> ops_upsample() {
  return {{"", "Upsample", 7, 8, 1, 1, 1, 1, {"mode", "scales"}, infer, reference, lower},
          {"", "Upsample", 9, 9, 2, 2, 1, 1, {"mode"}, infer, reference, lower}};
}

}  // namespace hasten
