// https://onnx.ai/onnx/operators/onnx__GridSample.html, opsets 16-19 (2-D images) and 20-21 (any
// number of spatial axes); X: numbers, and bool with mode nearest; grid: floats. Positions are
// computed in double. A NaN in the grid lies outside, before the first pixel.
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

constexpr size_t kMostAxes = 8;  // spatial ones

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct Params {
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool corners = false;
};

Result<Params> params_of(const OpContext& c) {
  Params p;
  const bool old = c.node().def->since < 20;
  const char* linear = old ? "bilinear" : "linear";
  const char* cubic = old ? "bicubic" : "cubic";
  const std::string mode = c.node().attr_string("mode", linear);
  if (mode == "nearest") {
    p.mode = Mode::kNearest;
  } else if (mode == cubic) {
    p.mode = Mode::kCubic;
  } else if (mode != linear) {
    return c.invalid("mode is '{}', it must be {}, nearest or {}", mode, linear, cubic);
  }
  const std::string padding = c.node().attr_string("padding_mode", "zeros");
  if (padding == "border") {
    p.padding = Padding::kBorder;
  } else if (padding == "reflection") {
    p.padding = Padding::kReflection;
  } else if (padding != "zeros") {
    return c.invalid("padding_mode is '{}', it must be zeros, border or reflection", padding);
  }
  p.corners = c.node().attr_int("align_corners", 0) != 0;
  return p;
}

Status infer(InferContext& c) {
  HASTEN_TRY(const Params p, params_of(c));
  const Facts &x = c.in(0), &grid = c.in(1);
  if (x.dtype == DType::kString || (x.dtype == DType::kBool && p.mode != Mode::kNearest)) {
    return c.unsupported("dtype {} with this mode", dtype_name(x.dtype));
  }
  HASTEN_CHECK(check_dtype(c, 1, kFloats));
  c.set_unknown(0, x.dtype);
  for (const Facts* f : {&x, &grid}) {
    const char* name = f == &x ? "X" : "grid";
    if (!f->has_shape) continue;
    if (c.node().def->since < 20 ? f->rank() != 4 : f->rank() < 3) {
      return c.invalid("{} is {}, it must have rank {}", name, f->text(),
                       c.node().def->since < 20 ? "4" : "3 or more");
    }
  }
  if (x.rank() > kMostAxes + 2) return c.unsupported("{} spatial axes", x.rank() - 2);
  if (!x.has_shape || !grid.has_shape) return {};
  const auto differ = [](Dim a, Dim b) { return a.known() && b.known() && !(a == b); };
  if (x.rank() != grid.rank() || differ(x.shape[0], grid.shape[0]) ||
      differ(grid.shape.back(), Dim(static_cast<int64_t>(x.rank()) - 2))) {
    return c.invalid("grid is {}, for X {} it must be [{},...,{}]", grid.text(), x.text(),
                     x.shape[0].text(), x.rank() - 2);
  }
  Shape out = grid.shape;
  out.pop_back();
  out.insert(out.begin() + 1, x.shape[1]);
  return set_checked(c, 0, x.dtype, std::move(out));
}

/// Where the image ends: centres or outer edges of its first and last pixel.
struct Borders {
  double low, high;
};

/// Mirrored at the borders until it lies between them.
double reflect(double x, const Borders& b) {
  const double range = b.high - b.low;
  if (!(range > 0) || !std::isfinite(x)) return b.low;
  const double distance = x < b.low ? b.low - x : x - b.low;
  const double turns = std::floor(distance / range);
  const double rest = std::fmod(distance, range);
  return std::fmod(turns, 2) == 0 ? b.low + rest : b.high - rest;
}

/// Up to four pixels along one axis, with their weights; index -1: padding of zeros.
struct AxisTaps {
  int64_t index[4];
  double weight[4];
  int count = 0;
};

class Sampler {
 public:
  explicit Sampler(const Params& p) : p_(p) {}

  AxisTaps taps(double at, int64_t n) const {
    const auto length = static_cast<double>(n);
    const Borders b = p_.corners ? Borders{0, length - 1} : Borders{-0.5, length - 0.5};
    double x = p_.corners ? (at + 1) / 2 * (length - 1) : ((at + 1) * length - 1) / 2;
    if (p_.mode == Mode::kNearest) x = std::nearbyint(x);
    if (!(x >= b.low && x <= b.high)) {
      if (std::isnan(x)) x = -2;
      if (p_.padding == Padding::kBorder) x = std::clamp(x, 0.0, std::max(length - 1, 0.0));
      if (p_.padding == Padding::kReflection) x = reflect(x, b);
      // What is left lies outside by more than any tap reaches.
      x = std::clamp(x, -8.0, length + 8);
    }
    AxisTaps t;
    const double first = p_.mode == Mode::kNearest ? x : std::floor(x);
    const double rest = x - first;
    switch (p_.mode) {
      case Mode::kNearest:
        t.weight[0] = 1;
        t.count = 1;
        break;
      case Mode::kLinear:
        t.weight[0] = 1 - rest;
        t.weight[1] = rest;
        t.count = 2;
        break;
      case Mode::kCubic:
        t.weight[0] = outer(rest + 1);
        t.weight[1] = inner(rest);
        t.weight[2] = inner(1 - rest);
        t.weight[3] = outer(2 - rest);
        t.count = 4;
        break;
    }
    const int64_t start = static_cast<int64_t>(first) - (p_.mode == Mode::kCubic ? 1 : 0);
    for (int i = 0; i < t.count; ++i) t.index[i] = pixel(start + i, n, b);
    return t;
  }

 private:
  static constexpr double kA = -0.75;
  static double inner(double x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; }
  static double outer(double x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; }

  int64_t pixel(int64_t i, int64_t n, const Borders& b) const {
    if (n == 0) return -1;
    if (i >= 0 && i < n) return i;
    if (p_.padding == Padding::kZeros) return -1;
    if (p_.padding == Padding::kReflection) {
      i = static_cast<int64_t>(reflect(static_cast<double>(i), b));
    }
    return std::clamp<int64_t>(i, 0, n - 1);
  }

  Params p_;
};

/// One output pixel: the taps of each axis, and the sum over their product.
template <class T>
T sample(const T* image, const Dims& strides, const std::vector<AxisTaps>& taps, bool nearest) {
  const size_t rank = taps.size();
  int at[kMostAxes] = {};
  double sum = 0;
  while (true) {
    int64_t offset = 0;
    double weight = 1;
    bool inside = true;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t index = taps[d].index[at[d]];
      inside = inside && index >= 0;
      offset += index * strides[d];
      weight *= taps[d].weight[at[d]];
    }
    if (nearest) return inside ? image[offset] : T();
    if (inside) sum += weight * static_cast<double>(Compute<T>::load(image[offset]));
    size_t d = rank;
    while (d > 0 && ++at[d - 1] == taps[d - 1].count) at[--d] = 0;
    if (d == 0) return convert_number<T>(sum);
  }
}

Status reference(RefContext& c) {
  HASTEN_TRY(const Params p, params_of(c));
  const TensorView &x = c.in(0), &grid = c.in(1);
  const size_t rank = x.dims.size() - 2;
  Dims out_dims = grid.dims;
  out_dims.pop_back();
  out_dims.insert(out_dims.begin() + 1, x.dims[1]);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, out_dims));
  const std::span<const int64_t> image(x.dims.data() + 2, rank);
  const Dims strides = row_major_strides(image);
  const int64_t in_pixels = count_of(image), channels = x.dims[1];
  const int64_t pixels = count_of(std::span(out_dims).subspan(2));
  const Sampler sampler(p);
  dispatch_any(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, std::string>) {
      dispatch_float(grid.dtype, [&](auto grid_zero) {
        using G = decltype(grid_zero);
        std::vector<AxisTaps> taps(rank);
        for (int64_t i = 0; i < x.dims[0] * pixels; ++i) {
          for (size_t d = 0; d < rank; ++d) {
            // The grid lists the innermost axis first.
            const int64_t place =
                (i + 1) * static_cast<int64_t>(rank) - 1 - static_cast<int64_t>(d);
            taps[d] = sampler.taps(Compute<G>::load(grid.as<G>()[place]), image[d]);
          }
          for (int64_t ch = 0; ch < channels; ++ch) {
            const int64_t plane = i / pixels * channels + ch;
            static_cast<T*>(memory)[plane * pixels + i % pixels] =
                sample<T>(x.as<T>() + plane * in_pixels, strides, taps, p.mode == Mode::kNearest);
          }
        }
      });
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_grid_sample() {
  OpDef first{"",    "GridSample", 16, 19, 2, 2, 1, 1, {"align_corners", "mode", "padding_mode"},
              infer, reference};
  OpDef now = first;
  now.since = 20;
  now.until = kLastOpset;
  return {first, now};
}

}  // namespace hasten
