// https://onnx.ai/onnx/operators/onnx__Resize.html, opsets 10-21: nearest of every dtype, linear
// and cubic of every number. Opset 10 is "asymmetric", and "nearest" rounds up where an axis
// shrinks.
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/resize_math.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;

Result<ResizeRules> rules_of(const OpContext& c) {
  HASTEN_TRY(ResizeRules rules, resize_rules(c));
  if (c.node().version < 11) {
    if (rules.mode == ResizeRules::Mode::kCubic) return c.invalid("mode 'cubic' before opset 11");
    rules.coordinates = ResizeRules::Coordinates::kAsymmetric;
    rules.rounding = ResizeRules::Rounding::kCeilIfSmaller;
  }
  return rules;
}

std::vector<float> read_floats(const TensorView& t) {
  std::vector<float> out;
  dispatch_float(t.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < t.count(); ++i) {
      out.push_back(static_cast<float>(Compute<T>::load(t.as<T>()[i])));
    }
  });
  return out;
}

/// An empty tensor stands for an absent one, as opset 11 writes it.
ResizeOperands operands_of(const RefContext& c) {
  ResizeOperands o;
  if (c.node().version < 11) {
    o.scales = read_floats(c.in(1));
    return o;
  }
  const auto given = [&](size_t i) { return c.has_in(i) && c.in(i).count() > 0; };
  if (given(kRoi)) o.roi = read_floats(c.in(kRoi));
  if (given(kScales)) o.scales = read_floats(c.in(kScales));
  if (given(kSizes)) o.sizes = read_ints(c.in(kSizes));
  return o;
}

/// The same of facts. `known` is false if the value of one that matters is not known.
template <class Context>
ResizeOperands operands_of(const Context& c, const ResizeRules& rules, bool& known) {
  ResizeOperands o;
  known = true;
  const auto given = [&](size_t i) {
    const Facts& f = c.in(i);
    if (!c.has_in(i) || (f.known_shape() && count_of(to_dims(f.shape)) == 0)) return false;
    if (!f.known_value()) known = false;
    return f.known_value();
  };
  if (c.node().version < 11) {
    known = c.in(1).known_value();  // required, but empty for a tensor without axes
    if (known) o.scales = read_floats(c.in(1).value.view());
    return o;
  }
  const bool crop = rules.coordinates == ResizeRules::Coordinates::kTfCropAndResize;
  if (crop && given(kRoi)) o.roi = read_floats(c.in(kRoi).value.view());
  if (given(kScales)) o.scales = read_floats(c.in(kScales).value.view());
  if (given(kSizes)) o.sizes = read_ints(c.in(kSizes).value.view());
  return o;
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_TRY(const ResizeRules rules, rules_of(c));
  HASTEN_CHECK(check_resize_dtype(c, rules, x.dtype));
  const Facts& scales = c.in(c.node().version < 11 ? 1 : kScales);
  if (scales.dtype != DType::kNone && scales.dtype != DType::kF32) {
    return c.invalid("scales have dtype {}, they must be f32", dtype_name(scales.dtype));
  }
  if (c.node().version >= 11) {
    HASTEN_CHECK(check_int_list(c, c.in(kSizes), "sizes", false));
    if (!c.has_in(kScales) && !c.has_in(kSizes)) return c.invalid("neither scales nor sizes");
  }
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  bool known = false;
  const ResizeOperands o = operands_of(c, rules, known);
  if (!known) {
    c.set(0, x.dtype, fresh_shape(x.rank()));
    return {};
  }
  HASTEN_TRY(Shape shape, resized_shape(c, rules, x.shape, o));
  c.set(0, x.dtype, std::move(shape));
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(const ResizeRules rules, rules_of(c));
  HASTEN_TRY(const std::vector<ResizeAxis> axes,
             resize_axes(c, rules, c.in(0).dims, operands_of(c)));
  return reference_resize(c, rules, axes);
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const ResizeRules rules, rules_of(c));
  bool known = false;
  const ResizeOperands o = operands_of(c, rules, known);
  if (!known) {
    c.refuse("map_axes", "sizes known only at run time");
    return {};
  }
  HASTEN_TRY(std::vector<ResizeAxis> axes, resize_axes(c, rules, c.in_dims(0), o));
  return lower_resize(c, rules, std::move(axes));
}

}  // namespace

std::vector<OpDef> ops_resize() {
  const std::vector<const char*> attrs11 = {"mode",
                                            "coordinate_transformation_mode",
                                            "nearest_mode",
                                            "cubic_coeff_a",
                                            "exclude_outside",
                                            "extrapolation_value"};
  std::vector<const char*> attrs18 = attrs11;
  for (const char* name : {"antialias", "axes", "keep_aspect_ratio_policy"}) {
    attrs18.push_back(name);
  }
  return {{"", "Resize", 10, 10, 2, 2, 1, 1, {"mode"}, infer, reference, lower},
          {"", "Resize", 11, 12, 3, 4, 1, 1, attrs11, infer, reference, lower},
          {"", "Resize", 13, 17, 1, 4, 1, 1, attrs11, infer, reference, lower},
          {"", "Resize", 18, kLastOpset, 1, 4, 1, 1, attrs18, infer, reference, lower}};
}

}  // namespace hasten
