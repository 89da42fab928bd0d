// https://onnx.ai/onnx/operators/onnx__Clip.html, opsets 6-10 (bounds are attributes) and 11-21
// (bounds are inputs), all numbers. Min(max, Max(x, min)); absent bounds are the largest and
// smallest finite numbers. NaN stays NaN; a bound that is NaN does not bound.
#include <limits>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer_old(InferContext& c) { return infer_unary(c, kFloats); }

Status infer(InferContext& c) {
  HASTEN_CHECK(check_same_dtype(c));
  for (size_t i = 1; i < 3; ++i) {
    const Facts& bound = c.in(i);
    if (c.has_in(i) && bound.known_shape() && count_of(to_dims(bound.shape)) != 1) {
      return c.invalid("{} has shape {}, it must be one number", i == 1 ? "min" : "max",
                       shape_text(bound.shape));
    }
  }
  return infer_unary(c, kNumbers);
}

template <class C>
C limited(C x, C low, C high) {
  const C raised = low > x ? low : x;
  return high < raised ? high : raised;
}

/// Finite, in the compute type of T: a half's largest number is smaller than a float's.
template <class T>
typename Compute<T>::type largest() {
  if constexpr (std::is_same_v<T, Half>) {
    return 65504.0f;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return 0x1.fep127f;
  } else {
    return std::numeric_limits<T>::max();
  }
}
template <class T>
typename Compute<T>::type smallest() {
  if constexpr (std::is_integral_v<T>) {
    return std::numeric_limits<T>::min();
  } else {
    return -largest<T>();
  }
}

Status reference_old(RefContext& c) {
  const double low = c.node().attr_float("min", -std::numeric_limits<float>::max());
  const double high = c.node().attr_float("max", std::numeric_limits<float>::max());
  return reference_float_unary(c, [=](double x) { return limited(x, low, high); });
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &low = c.in(1), &high = c.in(2);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  for (const TensorView* bound : {&low, &high}) {
    if (bound->data != nullptr && bound->count() != 1) {
      return c.invalid("a bound has shape {}, it must be one number", dims_text(bound->dims));
    }
  }
  const bool known = dispatch_number(x.dtype, [&](auto t) {
    using T = decltype(t);
    const auto lo = low.data ? Compute<T>::load(*low.as<T>()) : smallest<T>();
    const auto hi = high.data ? Compute<T>::load(*high.as<T>()) : largest<T>();
    for (int64_t i = 0; i < x.count(); ++i) {
      static_cast<T*>(memory)[i] =
          Compute<T>::store(limited(Compute<T>::load(x.as<T>()[i]), lo, hi));
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

Status lower_old(LowerContext& c) {
  return lower_unary(c, "clip_f32", c.kernels().clip_f32,
                     c.node().attr_float("min", -std::numeric_limits<float>::max()),
                     c.node().attr_float("max", std::numeric_limits<float>::max()), 2);
}

Status lower(LowerContext& c) {
  for (size_t i = 1; i < 3; ++i) {
    if (c.has_in(i) && count_of(c.in_dims(i)) != 1) return c.invalid("a bound is not one number");
  }
  // The bounds may be computed: read at run time.
  return lower_unary_with(
      c, "clip_f32", c.kernels().clip_f32,
      [has_low = c.has_in(1), has_high = c.has_in(2)](const StepArgs& s) -> UnaryParams {
        return {has_low ? *s.input<float>(1) : smallest<float>(),
                has_high ? *s.input<float>(2) : largest<float>()};
      },
      2);
}

}  // namespace

std::vector<OpDef> ops_clip() {
  return unary_ops(
      {{"", "Clip", 6, 10, 1, 1, 1, 1, {"min", "max"}, infer_old, reference_old, lower_old},
       {"", "Clip", 11, kLastOpset, 1, 3, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
