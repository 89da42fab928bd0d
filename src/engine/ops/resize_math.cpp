#include "engine/ops/resize_math.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/numbers.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

using Mode = ResizeRules::Mode;
using Coordinates = ResizeRules::Coordinates;
using Rounding = ResizeRules::Rounding;
using Aspect = ResizeRules::Aspect;

template <class T>
struct Named {
  const char* name;
  T value;
};

template <class T, size_t N>
Status pick(const OpContext& c, const char* attr, const Named<T> (&choices)[N], T& value) {
  if (c.node().find_attr(attr) == nullptr) return {};
  const std::string text = c.node().attr_string(attr, "");
  for (const Named<T>& choice : choices) {
    if (text == choice.name) {
      value = choice.value;
      return {};
    }
  }
  return c.invalid("attribute '{}' is '{}', which is none of its values", attr, text);
}

constexpr Named<Mode> kModes[] = {
    {"nearest", Mode::kNearest}, {"linear", Mode::kLinear}, {"cubic", Mode::kCubic}};
constexpr Named<Coordinates> kCoordinates[] = {
    {"half_pixel", Coordinates::kHalfPixel},
    {"half_pixel_symmetric", Coordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", Coordinates::kPytorchHalfPixel},
    {"align_corners", Coordinates::kAlignCorners},
    {"asymmetric", Coordinates::kAsymmetric},
    {"tf_half_pixel_for_nn", Coordinates::kTfHalfPixelForNn},
    {"tf_crop_and_resize", Coordinates::kTfCropAndResize}};
constexpr Named<Rounding> kRoundings[] = {{"round_prefer_floor", Rounding::kRoundPreferFloor},
                                          {"round_prefer_ceil", Rounding::kRoundPreferCeil},
                                          {"floor", Rounding::kFloor},
                                          {"ceil", Rounding::kCeil}};
constexpr Named<Aspect> kAspects[] = {{"stretch", Aspect::kStretch},
                                      {"not_larger", Aspect::kNotLarger},
                                      {"not_smaller", Aspect::kNotSmaller}};

/// The axes that are resized, in the order of the operands' elements.
Result<std::vector<size_t>> resized(const OpContext& c, const ResizeRules& rules, size_t rank) {
  if (rules.axes) return resolve_axes(c, *rules.axes, rank);
  std::vector<size_t> axes(rank);
  for (size_t i = 0; i < rank; ++i) axes[i] = i;
  return axes;
}

Status check_operands(const OpContext& c, const ResizeRules& rules, size_t n,
                      const ResizeOperands& o) {
  if (o.scales.has_value() == o.sizes.has_value()) {
    return c.invalid("{} scales and sizes, exactly one of them must be given",
                     o.scales ? "both" : "neither");
  }
  const size_t given = o.scales ? o.scales->size() : o.sizes->size();
  if (given != n) {
    return c.invalid("{} {} for {} axes", given, o.scales ? "scales" : "sizes", n);
  }
  for (size_t i = 0; o.scales && i < n; ++i) {
    const float s = (*o.scales)[i];
    if (!(s > 0) || std::isinf(s)) return c.invalid("scale {} of axis {} is not positive", s, i);
  }
  for (size_t i = 0; o.sizes && i < n; ++i) {
    const int64_t s = (*o.sizes)[i];
    if (s < 0 && !Dim::is_symbol_code(s)) return c.invalid("size {} of axis {} is negative", s, i);
  }
  if (rules.coordinates == Coordinates::kTfCropAndResize && (!o.roi || o.roi->size() != 2 * n)) {
    return c.invalid("tf_crop_and_resize needs a roi of {} numbers, it has {}", 2 * n,
                     o.roi ? o.roi->size() : 0);
  }
  return {};
}

Result<int64_t> rounded_size(const OpContext& c, float size) {
  if (!(size < 0x1p62f)) return c.invalid("an axis of {} elements is too long", size);
  return static_cast<int64_t>(std::floor(size));
}
Result<int64_t> scaled_size(const OpContext& c, int64_t in, float scale) {
  return rounded_size(c, static_cast<float>(in) * scale);
}

/// x / scale. Where the scale is the ratio of two sizes the quotient is that of the sizes, so that
/// ties are ties; else it is rounded to float like the scale, which brings most ties back (1.5 by
/// the float next to 0.3).
double unscaled(const ResizeAxis& a, double x) {
  if (a.scale == static_cast<float>(a.out) / static_cast<float>(a.in)) {
    return x * static_cast<double>(a.in) / static_cast<double>(a.out);
  }
  return static_cast<double>(static_cast<float>(x) / a.scale);
}

/// The coordinate in the input of element x of the output.
double source_of(const ResizeRules& rules, const ResizeAxis& a, int64_t index) {
  const auto x = static_cast<double>(index), in = static_cast<double>(a.in);
  const auto out = static_cast<double>(a.out), length = static_cast<double>(a.length);
  switch (rules.coordinates) {
    case Coordinates::kHalfPixel:
      return unscaled(a, x + 0.5) - 0.5;
    case Coordinates::kHalfPixelSymmetric:
      return in / 2 * (1 - out / length) + unscaled(a, x + 0.5) - 0.5;
    case Coordinates::kPytorchHalfPixel:
      return a.out > 1 ? unscaled(a, x + 0.5) - 0.5 : 0;
    case Coordinates::kAlignCorners:
      return a.length == 1 ? 0 : x * (in - 1) / (length - 1);
    case Coordinates::kAsymmetric:
      return unscaled(a, x);
    case Coordinates::kTfHalfPixelForNn:
      return unscaled(a, x + 0.5);
    case Coordinates::kTfCropAndResize:
      break;
  }
  const auto begin = static_cast<double>(a.roi_begin), end = static_cast<double>(a.roi_end);
  return a.out > 1 ? begin * (in - 1) + x * (end - begin) * (in - 1) / (out - 1)
                   : 0.5 * (begin + end) * (in - 1);
}

bool is_outside(const ResizeRules& rules, const ResizeAxis& a, double source) {
  return rules.coordinates == Coordinates::kTfCropAndResize &&
         !(source >= 0 && source <= static_cast<double>(a.in - 1));
}

/// From a coordinate to an index, whatever it is.
int64_t clamp_index(double x, int64_t n) {
  if (!(x > 0)) return 0;
  if (x >= static_cast<double>(n - 1)) return n - 1;
  return static_cast<int64_t>(x);
}

double rounded(Rounding rounding, double x, bool shrinks) {
  switch (rounding) {
    case Rounding::kRoundPreferFloor:
      return std::ceil(x - 0.5);
    case Rounding::kRoundPreferCeil:
      return std::floor(x + 0.5);
    case Rounding::kFloor:
      return std::floor(x);
    case Rounding::kCeil:
      return std::ceil(x);
    case Rounding::kCeilIfSmaller:
      break;
  }
  return shrinks ? std::ceil(x) : std::floor(x);
}

/// The cubic kernel at distance x.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double filter(const ResizeRules& rules, double x) {
  if (rules.mode == Mode::kCubic) return cubic(x, static_cast<double>(rules.cubic_a));
  return std::max(0.0, 1 - std::abs(x));
}

}  // namespace

Result<ResizeRules> resize_rules(const OpContext& c) {
  ResizeRules rules;
  HASTEN_CHECK(pick(c, "mode", kModes, rules.mode));
  HASTEN_CHECK(pick(c, "coordinate_transformation_mode", kCoordinates, rules.coordinates));
  HASTEN_CHECK(pick(c, "nearest_mode", kRoundings, rules.rounding));
  HASTEN_CHECK(pick(c, "keep_aspect_ratio_policy", kAspects, rules.aspect));
  rules.cubic_a = c.node().attr_float("cubic_coeff_a", -0.75f);
  rules.extrapolation = c.node().attr_float("extrapolation_value", 0);
  rules.exclude_outside = c.node().attr_int("exclude_outside", 0) != 0;
  rules.antialias = c.node().attr_int("antialias", 0) != 0;
  if (c.node().find_attr("axes") != nullptr) rules.axes = c.node().attr_ints("axes");
  return rules;
}

Result<std::vector<ResizeAxis>> resize_axes(const OpContext& c, const ResizeRules& rules,
                                            std::span<const int64_t> dims,
                                            const ResizeOperands& o) {
  HASTEN_TRY(const std::vector<size_t> axes, resized(c, rules, dims.size()));
  HASTEN_CHECK(check_operands(c, rules, axes.size(), o));
  std::vector<ResizeAxis> out(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    out[d].in = out[d].out = dims[d];
    out[d].length = static_cast<float>(dims[d]);
  }
  // One scale for all axes: the smallest or largest that the sizes ask for.
  float common = 0;
  for (size_t i = 0; o.sizes && rules.aspect != Aspect::kStretch && i < axes.size(); ++i) {
    const float scale = static_cast<float>((*o.sizes)[i]) / static_cast<float>(dims[axes[i]]);
    const bool take =
        i == 0 || (rules.aspect == Aspect::kNotLarger ? scale < common : scale > common);
    if (take) common = scale;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& a = out[axes[i]];
    if (o.scales) {
      a.scale = (*o.scales)[i];
      a.length = a.scale * static_cast<float>(a.in);
      HASTEN_TRY(a.out, scaled_size(c, a.in, a.scale));
    } else if (rules.aspect == Aspect::kStretch) {
      a.out = (*o.sizes)[i];
      a.scale = static_cast<float>(a.out) / static_cast<float>(a.in);
      a.length = static_cast<float>(a.out);
    } else if (a.in > 0) {
      a.scale = common;
      a.length = a.scale * static_cast<float>(a.in);
      HASTEN_TRY(a.out, rounded_size(c, a.length + 0.5f));
    }
    if (o.roi && rules.coordinates == Coordinates::kTfCropAndResize) {
      a.roi_begin = (*o.roi)[i];
      a.roi_end = (*o.roi)[i + axes.size()];
    }
    if (a.in == 0 && a.out != 0) {
      return c.invalid("axis {} has no elements, it can't be resized to {}", axes[i], a.out);
    }
  }
  return out;
}

Result<Shape> resized_shape(const OpContext& c, const ResizeRules& rules, const Shape& dims,
                            const ResizeOperands& o) {
  HASTEN_TRY(const std::vector<size_t> axes, resized(c, rules, dims.size()));
  if (!o.scales && !o.sizes) {
    Shape out = dims;
    for (size_t axis : axes) out[axis] = Dim::fresh();
    return out;
  }
  const bool symbols = o.sizes && has_symbols(*o.sizes);
  if (is_known(dims) && !symbols) {
    HASTEN_TRY(const std::vector<ResizeAxis> resized_axes, resize_axes(c, rules, to_dims(dims), o));
    Shape out;
    for (const ResizeAxis& a : resized_axes) out.push_back(Dim(a.out));
    return out;
  }
  HASTEN_CHECK(check_operands(c, rules, axes.size(), o));
  Shape out = dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& d = out[axes[i]];
    if (o.sizes) {
      d = rules.aspect == Aspect::kStretch ? Dim::from_code((*o.sizes)[i]) : Dim::fresh();
    } else if ((*o.scales)[i] != 1) {
      if (!d.known()) {
        d = Dim::fresh();
      } else {
        HASTEN_TRY(const int64_t size, scaled_size(c, d.value(), (*o.scales)[i]));
        d = Dim(size);
      }
    }
  }
  return out;
}

bool is_unchanged(const ResizeRules& rules, const ResizeAxis& a) {
  return a.scale == 1 && a.in == a.out && rules.coordinates != Coordinates::kTfCropAndResize;
}

AxisMap nearest_map(const ResizeRules& rules, const ResizeAxis& a) {
  if (is_unchanged(rules, a)) return identity_map(a.out);
  AxisMap map;
  for (int64_t x = 0; x < a.out; ++x) {
    const double source = source_of(rules, a, x);
    map.push_back(is_outside(rules, a, source)
                      ? kFill
                      : clamp_index(rounded(rules.rounding, source, a.scale < 1), a.in));
  }
  return map;
}

AxisTaps axis_taps(const ResizeRules& rules, const ResizeAxis& a) {
  AxisTaps t;
  if (is_unchanged(rules, a)) {
    t.index = identity_map(a.out);
    t.weight.assign(static_cast<size_t>(a.out), 1);
    t.outside.assign(static_cast<size_t>(a.out), false);
    return t;
  }
  if (a.out == 0) return t;
  // A filter of that radius, stretched when antialiasing a smaller output.
  const double stretch = rules.antialias ? std::min(1.0, static_cast<double>(a.scale)) : 1;
  const double radius = rules.mode == Mode::kCubic ? 2 : 1;
  const auto first = static_cast<int64_t>(std::floor(-radius / stretch)) + 1;
  t.taps = 2 - 2 * first;
  for (int64_t x = 0; x < a.out; ++x) {
    const double source = source_of(rules, a, x);
    t.outside.push_back(is_outside(rules, a, source));
    t.any_outside |= t.outside.back();
    const double floor = t.outside.back() ? 0 : std::floor(source);
    const auto base = static_cast<int64_t>(floor);
    const double fraction = t.outside.back() ? 0 : source - floor;
    std::vector<double> weights;
    double sum = 0;
    for (int64_t k = 0; k < t.taps; ++k) {
      const int64_t at = base + first + k;
      double w = filter(rules, (static_cast<double>(first + k) - fraction) * stretch);
      if (rules.exclude_outside && (at < 0 || at >= a.in)) w = 0;
      weights.push_back(w);
      sum += w;
      t.index.push_back(std::clamp<int64_t>(at, 0, a.in - 1));
    }
    if (!rules.antialias && !rules.exclude_outside) sum = 1;
    for (double w : weights) t.weight.push_back(sum != 0 ? w / sum : 0);
  }
  return t;
}

Status check_resize_dtype(const OpContext& c, const ResizeRules& rules, DType dtype) {
  if (rules.mode == Mode::kNearest || is_float(dtype) || is_int(dtype) || dtype == DType::kNone) {
    return {};
  }
  return c.unsupported("mode {} of {}", rules.mode == Mode::kLinear ? "linear" : "cubic",
                       dtype_name(dtype));
}

namespace {

/// As close as the dtype can: rounded for floats, toward zero and into the range for integers.
template <class T>
T to_element(double x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
    if (std::isnan(x)) return 0;
    if (x <= kLow) return std::numeric_limits<T>::min();
    if (x >= kHigh) return std::numeric_limits<T>::max();
    return static_cast<T>(x);
  } else {
    return Compute<T>::store(static_cast<float>(x));
  }
}

template <class T>
void interpolate(const T* in, const Dims& in_dims, const std::vector<AxisTaps>& taps,
                 const Dims& out_dims, float extrapolation, T* out) {
  const Dims strides = row_major_strides(in_dims);
  const size_t rank = in_dims.size();
  const int64_t n = count_of(out_dims);
  Dims at(rank);
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i;
    bool outside = false;
    for (size_t d = rank; d-- > 0;) {
      at[d] = rest % out_dims[d];
      rest /= out_dims[d];
      outside |= taps[d].outside[static_cast<size_t>(at[d])];
    }
    if (outside) {
      out[i] = to_element<T>(static_cast<double>(extrapolation));
      continue;
    }
    // Every combination of one tap per axis.
    double sum = 0;
    Dims tap(rank, 0);
    for (bool more = true; more;) {
      double weight = 1;
      int64_t source = 0;
      for (size_t d = 0; d < rank; ++d) {
        const auto k = static_cast<size_t>(at[d] * taps[d].taps + tap[d]);
        weight *= taps[d].weight[k];
        source += taps[d].index[k] * strides[d];
      }
      if (weight != 0) sum += weight * static_cast<double>(Compute<T>::load(in[source]));
      more = false;
      for (size_t d = rank; d-- > 0 && !more;) {
        more = ++tap[d] < taps[d].taps;
        if (!more) tap[d] = 0;
      }
    }
    out[i] = to_element<T>(sum);
  }
}

/// One element of that dtype.
std::array<char, 8> element_of(DType dtype, float value) {
  std::array<char, 8> bytes{};
  dispatch_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T element = to_element<T>(static_cast<double>(value));
    std::memcpy(bytes.data(), &element, sizeof element);
  });
  if (dtype == DType::kBool) bytes[0] = value != 0;
  return bytes;
}

}  // namespace

Status reference_resize(RefContext& c, const ResizeRules& rules,
                        const std::vector<ResizeAxis>& axes) {
  const TensorView& x = c.in(0);
  Dims out_dims;
  for (const ResizeAxis& a : axes) out_dims.push_back(a.out);
  HASTEN_CHECK(check_resize_dtype(c, rules, x.dtype));
  HASTEN_TRY(void* out, c.out(0, x.dtype, out_dims));
  if (count_of(out_dims) == 0) return {};
  if (rules.mode == Mode::kNearest) {
    std::vector<AxisMap> maps;
    maps.reserve(axes.size());
    for (const ResizeAxis& a : axes) maps.push_back(nearest_map(rules, a));
    const std::array<char, 8> fill = element_of(x.dtype, rules.extrapolation);
    const std::string text;
    const void* element = x.dtype == DType::kString ? static_cast<const void*>(&text) : fill.data();
    map_block(x.dtype, x.data, x.dims, maps, element, out);
    return {};
  }
  std::vector<AxisTaps> taps;
  taps.reserve(axes.size());
  for (const ResizeAxis& a : axes) taps.push_back(axis_taps(rules, a));
  dispatch_number(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    interpolate<T>(x.as<T>(), x.dims, taps, out_dims, rules.extrapolation, static_cast<T*>(out));
  });
  return {};
}

namespace {

/// One axis of a separable resize: [outer, in, inner] -> [outer, out, inner].
struct Pass {
  ResampleArgs args{};
  std::vector<int64_t> index;
  std::vector<float> weight;
  resample_f32_fn kernel = nullptr;
  int64_t rows = 0, grain = 1;
};

struct Passes {
  std::vector<Pass> list;
  int64_t floats = 0;  // of the larger of two intermediate results, rounded up to a cache line
};

void run_passes(const Passes& passes, const StepArgs& s) {
  auto* scratch = reinterpret_cast<float*>(s.scratch);
  const float* from = s.input<float>(0);
  for (size_t i = 0; i < passes.list.size(); ++i) {
    const Pass& pass = passes.list[i];
    ResampleArgs args = pass.args;
    args.in = from;
    args.out = i + 1 == passes.list.size() ? s.output<float>(0)
                                           : scratch + static_cast<int64_t>(i % 2) * passes.floats;
    from = args.out;
    s.parallel(pass.rows, pass.grain,
               [&](int64_t begin, int64_t end) { pass.kernel(&args, begin, end); });
  }
}

}  // namespace

Status lower_resize(LowerContext& c, const ResizeRules& rules, std::vector<ResizeAxis> axes) {
  const Facts &x = c.in(0), &out = c.out(0);
  const bool nearest = rules.mode == Mode::kNearest;
  const char* kernel = nearest ? "map_axes" : "resample_f32";
  if (x.dtype == DType::kString || x.layout != out.layout || (!nearest && x.dtype != DType::kF32)) {
    c.refuse(kernel, x.dtype == DType::kString ? "strings"
                     : x.layout != out.layout  ? "another layout than the output"
                                               : "not float");
    return {};
  }
  const bool blocked = x.layout == Layout::kNchw16c;
  if (blocked && (axes.size() < 2 || !is_unchanged(rules, axes[1]))) {
    c.refuse(kernel, "channels are resized in a blocked layout");
    return {};
  }
  constexpr int64_t kTableLimit = int64_t{1} << 24;  // entries of an axis' table
  for (const ResizeAxis& a : axes) {
    if (a.out > kTableLimit) {
      c.refuse(kernel, fmt::format("an axis of {} elements", a.out));
      return {};
    }
  }
  if (std::all_of(axes.begin(), axes.end(),
                  [&](const ResizeAxis& a) { return is_unchanged(rules, a); })) {
    c.alias(0);
    return {};
  }
  const StoredDims stored = storage_of(x);
  if (blocked) axes[1].in = axes[1].out = stored.dims[1];
  if (nearest) {
    std::vector<AxisMap> maps;
    bool fills = false;
    for (const ResizeAxis& a : axes) {
      maps.push_back(nearest_map(rules, a));
      fills |= std::find(maps.back().begin(), maps.back().end(), kFill) != maps.back().end();
    }
    if (fills && blocked) {
      c.refuse(kernel, "extrapolates in a blocked layout");
      return {};
    }
    const std::array<char, 8> fill = element_of(x.dtype, rules.extrapolation);
    lower_map(c, stored, std::move(maps), fills ? fill.data() : nullptr);
    return {};
  }
  auto passes = std::make_shared<Passes>();
  Dims dims = stored.dims;
  int64_t inner = blocked ? 16 : 1;
  std::vector<int64_t> sizes;  // floats after each pass
  for (size_t d = 0; d < axes.size(); ++d) {
    if (is_unchanged(rules, axes[d])) continue;
    AxisTaps taps = axis_taps(rules, axes[d]);
    if (taps.any_outside) {
      c.refuse(kernel, "extrapolates");
      return {};
    }
    Pass pass;
    const std::span<const int64_t> all(dims);
    pass.kernel = c.kernels().resample_f32;
    pass.args.taps = taps.taps;
    pass.args.in_rows = dims[d];
    pass.args.out_rows = axes[d].out;
    pass.args.inner = count_of(all.subspan(d + 1)) * inner;
    pass.index = std::move(taps.index);
    pass.weight.assign(taps.weight.begin(), taps.weight.end());
    pass.rows = count_of(all.first(d)) * axes[d].out;
    pass.grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, pass.args.inner * taps.taps));
    dims[d] = axes[d].out;
    sizes.push_back(count_of(dims) * inner);
    c.flops(c.result().flops + 2.0 * static_cast<double>(sizes.back() * taps.taps));
    passes->list.push_back(std::move(pass));
  }
  for (Pass& pass : passes->list) {
    pass.args.index = pass.index.data();
    pass.args.weight = pass.weight.data();
  }
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    passes->floats = std::max(passes->floats, (sizes[i] + 15) / 16 * 16);
  }
  const auto buffers = std::min<size_t>(2, passes->list.size() - 1);
  c.scratch(buffers * static_cast<size_t>(passes->floats) * sizeof(float));
  c.take(kernel, [passes = std::shared_ptr<const Passes>(std::move(passes))](const StepArgs& s) {
    run_passes(*passes, s);
  });
  return {};
}

}  // namespace hasten
