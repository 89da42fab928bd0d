// https://onnx.ai/onnx/operators/onnx__LayerNormalization.html, opsets 17-21, floats. stash_type 1
// (statistics in f32) only.
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

float epsilon_of(const OpContext& c) { return c.node().attr_float("epsilon", 1e-5f); }
Result<size_t> axis_of(const OpContext& c, size_t rank) {
  return resolve_axis(c, c.node().attr_int("axis", -1), rank);
}

Status infer(InferContext& c) {
  if (c.node().attr_int("stash_type", 1) != 1) {
    return c.unsupported("stash_type {}", c.node().attr_int("stash_type", 1));
  }
  HASTEN_CHECK(check_same_dtype(c));
  HASTEN_CHECK(infer_unary(c, kFloats));
  const Facts& x = c.in(0);
  if (!x.has_shape) {
    for (size_t i = 1; i < c.outputs() && i < 3; ++i) c.set_unknown(i, DType::kF32);
    return {};
  }
  HASTEN_TRY(const size_t axis, axis_of(c, x.rank()));
  for (size_t i = 1; i < 3; ++i) {
    const Facts& p = c.in(i);
    if (!c.has_in(i) || !p.has_shape) continue;
    auto both = broadcast(x.shape, p.shape);
    const bool fits = both && (!is_known(*both) || !is_known(x.shape) || *both == x.shape) &&
                      both->size() == x.rank();
    if (!fits) {
      return c.invalid("{} {} does not broadcast to X {}", i == 1 ? "Scale" : "B",
                       shape_text(p.shape), shape_text(x.shape));
    }
  }
  Shape rows = x.shape;
  std::fill(rows.begin() + static_cast<int64_t>(axis), rows.end(), Dim(1));
  for (size_t i = 1; i < c.outputs() && i < 3; ++i) c.set(i, DType::kF32, rows);
  return {};
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &scale = c.in(1), &shift = c.in(2);
  HASTEN_TRY(const size_t axis, axis_of(c, x.dims.size()));
  const int64_t n = count_of(std::span(x.dims).subspan(axis));
  const int64_t rows = count_of(std::span(x.dims).first(axis));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  Dims row_dims = x.dims;
  std::fill(row_dims.begin() + static_cast<int64_t>(axis), row_dims.end(), 1);
  float* stats[2] = {nullptr, nullptr};
  for (size_t i = 0; i < 2; ++i) {
    if (!c.has_out(i + 1)) continue;
    HASTEN_TRY(void* m, c.out(i + 1, DType::kF32, row_dims));
    stats[i] = static_cast<float*>(m);
  }
  const double epsilon = epsilon_of(c);
  const Dims no_shift(x.dims.size(), 0);
  const Dims scale_strides = broadcast_strides(scale.dims, x.dims);
  const Dims shift_strides = shift.data ? broadcast_strides(shift.dims, x.dims) : no_shift;
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> means(static_cast<size_t>(rows)), factors(means.size());
    for (int64_t r = 0; r < rows; ++r) {
      const T* p = x.as<T>() + r * n;
      double mean = 0, variance = 0;
      for (int64_t i = 0; i < n; ++i) mean += static_cast<double>(Compute<T>::load(p[i])) / n;
      for (int64_t i = 0; i < n; ++i) {
        const double d = static_cast<double>(Compute<T>::load(p[i])) - mean;
        variance += d * d / n;
      }
      const auto at = static_cast<size_t>(r);
      means[at] = mean;
      factors[at] = 1 / std::sqrt(variance + epsilon);
      if (stats[0]) stats[0][r] = static_cast<float>(mean);
      if (stats[1]) stats[1][r] = static_cast<float>(factors[at]);
    }
    for_each_broadcast(x.dims, scale_strides, shift_strides, [&](int64_t i, int64_t s, int64_t b) {
      const auto row = static_cast<size_t>(n > 0 ? i / n : 0);
      const double v = static_cast<double>(Compute<T>::load(x.as<T>()[i]));
      const double y = (v - means[row]) * factors[row] * Compute<T>::load(scale.as<T>()[s]);
      static_cast<T*>(memory)[i] =
          convert_number<T>(y + (shift.data ? Compute<T>::load(shift.as<T>()[b]) : 0));
    });
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

/// Does an operand, seen as broadcast to `dims`, have one value for each element of a row and the
/// same row throughout?
bool is_one_row(const Dims& operand, const Dims& dims, size_t axis) {
  const Dims strides = broadcast_strides(operand, dims);
  const Dims want = row_major_strides(dims);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != 1 && strides[d] != (d < axis ? 0 : want[d])) return false;
  }
  return true;
}

Status lower(LowerContext& c) {
  const char* name = "layer_norm_f32";
  if (!plain_f32(c, name)) return {};
  const Dims dims = c.in_dims(0);
  if (count_of(dims) == 0) {
    c.refuse(name, "no elements");
    return {};
  }
  HASTEN_TRY(const size_t axis, axis_of(c, dims.size()));
  const int64_t n = count_of(std::span(dims).subspan(axis));
  const int64_t rows = n == 0 ? 0 : count_of(std::span(dims).first(axis));
  for (size_t i = 1; i < 3; ++i) {
    if (c.has_in(i) && !is_one_row(c.in_dims(i), dims, axis)) {
      c.refuse(name, fmt::format("operand {} of {} is not one row", i, dims_text(c.in_dims(i))));
      return {};
    }
  }
  c.flops(static_cast<double>(count_of(dims)) * 8);
  c.in_place({0});
  const bool has_shift = c.has_in(2), has_mean = c.has_out(1), has_deviation = c.has_out(2);
  const int64_t grain = std::max<int64_t>(kCostlyGrain / std::max<int64_t>(n, 1), 1);
  c.take(name,
         [=, epsilon = epsilon_of(c), kernel = c.kernels().layer_norm_f32](const StepArgs& s) {
           const LayerNormArgs args{s.input<float>(0),
                                    s.input<float>(1),
                                    has_shift ? s.input<float>(2) : nullptr,
                                    s.output<float>(0),
                                    has_mean ? s.output<float>(1) : nullptr,
                                    has_deviation ? s.output<float>(2) : nullptr,
                                    n,
                                    epsilon};
           s.parallel(rows, grain, [&](int64_t begin, int64_t end) { kernel(&args, begin, end); });
         });
  return {};
}

}  // namespace

std::vector<OpDef> ops_layer_normalization() {
  return {{"",
           "LayerNormalization",
           17,
           kLastOpset,
           2,
           3,
           1,
           3,
           {"axis", "epsilon", "stash_type"},
           infer,
           reference,
           lower}};
}

}  // namespace hasten
