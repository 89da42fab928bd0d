#include "engine/ops/group_norm.h"

#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"

namespace hasten {

namespace {

float epsilon_of(const OpContext& c) { return c.node().attr_float("epsilon", 1e-5f); }

}  // namespace

NormGroups norm_groups(const Dims& x, int64_t groups, bool per_group) {
  NormGroups g;
  g.samples = x[0];
  g.groups = groups == 0 ? x[1] : groups;
  g.channels = g.groups == 0 ? 0 : x[1] / g.groups;
  g.pixels = count_of(std::span(x).subspan(2));
  g.per_group = per_group;
  return g;
}

Status infer_group_norm(InferContext& c, Dim length) {
  HASTEN_CHECK(check_same_dtype(c));
  HASTEN_CHECK(infer_unary(c, kFloats));
  const Facts& x = c.in(0);
  if (x.has_shape && x.rank() < 2) {
    return c.invalid("X has rank {}, it must be at least 2", x.rank());
  }
  for (size_t i = 1; i < 3; ++i) {
    const Facts& p = c.in(i);
    const char* name = i == 1 ? "scale" : "bias";
    if (!p.has_shape) continue;
    if (p.rank() != 1) {
      return c.invalid("{} has shape {}, it must have one axis", name, shape_text(p.shape));
    }
    if (p.shape[0].known() && length.known() && !(p.shape[0] == length)) {
      return c.invalid("{} has {} elements, it must have {}", name, p.shape[0].value(),
                       length.value());
    }
  }
  return {};
}

Status reference_group_norm(RefContext& c, const NormGroups& g) {
  const TensorView &x = c.in(0), &scale = c.in(1), &bias = c.in(2);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const double epsilon = epsilon_of(c);
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto at = [](const TensorView& t, int64_t i) {
      return static_cast<double>(Compute<T>::load(t.as<T>()[i]));
    };
    const int64_t n = g.channels * g.pixels;
    // No channels divide into any number of groups.
    const int64_t rows = n == 0 ? 0 : g.samples * g.groups;
    for (int64_t row = 0; row < rows; ++row) {
      double mean = 0, variance = 0;
      const auto count = static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i) mean += at(x, row * n + i) / count;
      for (int64_t i = 0; i < n; ++i) {
        const double d = at(x, row * n + i) - mean;
        variance += d * d / count;
      }
      const double factor = 1 / std::sqrt(variance + epsilon);
      const int64_t group = row % g.groups;
      for (int64_t i = 0; i < n; ++i) {
        const int64_t p = g.per_group ? group : group * g.channels + i / g.pixels;
        const double y = (at(x, row * n + i) - mean) * factor * at(scale, p) + at(bias, p);
        static_cast<T*>(memory)[row * n + i] = convert_number<T>(y);
      }
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

Status lower_group_norm(LowerContext& c, const NormGroups& g) {
  const char* name = "group_norm_f32";
  if (!plain_f32(c, name)) return {};
  const int64_t n = g.channels * g.pixels, rows = n == 0 ? 0 : g.samples * g.groups;
  c.flops(static_cast<double>(rows) * static_cast<double>(n) * 8);
  c.in_place({0});
  const int64_t grain = std::max<int64_t>(kCostlyGrain / std::max<int64_t>(n, 1), 1);
  c.take(name,
         [=, epsilon = epsilon_of(c), kernel = c.kernels().group_norm_f32](const StepArgs& s) {
           const GroupNormArgs args{s.input<float>(0),  s.input<float>(1), s.input<float>(2),
                                    s.output<float>(0), g.groups,          g.channels,
                                    g.pixels,           g.per_group,       epsilon};
           s.parallel(rows, grain, [&](int64_t begin, int64_t end) { kernel(&args, begin, end); });
         });
  return {};
}

}  // namespace hasten
