// https://onnx.ai/onnx/operators/onnx__Multinomial.html, opsets 7-21: logarithms of probabilities
// (not normalized) f16, f32, f64 [N, C]; outcomes int32 and int64 [N, sample_size].
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/random_numbers.h"

namespace hasten {

namespace {

constexpr DTypes kLogs = dtypes({DType::kF16, DType::kF32, DType::kF64});
constexpr DTypes kOutcomes = dtypes({DType::kI32, DType::kI64});

Result<int64_t> samples_of(const OpContext& c) {
  const int64_t n = c.node().attr_int("sample_size", 1);
  if (n < 0) return c.invalid("attribute 'sample_size' is {}", n);
  return n;
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_CHECK(check_dtype(c, 0, kLogs));
  HASTEN_CHECK(random_stream(c));
  HASTEN_TRY(const DType dtype, random_dtype(c, DType::kI32, kOutcomes));
  HASTEN_TRY(const int64_t samples, samples_of(c));
  if (x.has_shape && x.rank() != 2) {
    return c.invalid("the input has the shape {}, it must be [N,C]", shape_text(x.shape));
  }
  c.set(0, dtype, {x.has_shape ? x.shape[0] : Dim::fresh(), Dim(samples)});
  return {};
}

/// Probabilities of a row summed up to each class, times a common factor. Error where there are
/// none: no class, all -inf, NaN or +inf.
Result<std::vector<double>> cumulative(const RefContext& c, const TensorView& x, int64_t row) {
  const int64_t classes = x.dims[1];
  std::vector<double> p(static_cast<size_t>(classes));
  dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t k = 0; k < p.size(); ++k) {
      p[k] = Compute<T>::load(x.as<T>()[row * classes + static_cast<int64_t>(k)]);
    }
  });
  double max = -INFINITY, sum = 0;
  for (const double v : p) max = std::max(max, v);
  for (double& v : p) v = sum += portable_exp(v - max);
  if (!std::isfinite(sum) || sum == 0) {
    return c.invalid("row {} of the input is no distribution", row);
  }
  return p;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const RandomStream stream, random_stream(c));
  HASTEN_TRY(const DType dtype, random_dtype(c, DType::kI32, kOutcomes));
  HASTEN_TRY(const int64_t samples, samples_of(c));
  HASTEN_TRY(void* memory, c.out(0, dtype, {x.dims[0], samples}));
  for (int64_t row = 0; samples > 0 && row < x.dims[0]; ++row) {
    HASTEN_TRY(const std::vector<double> p, cumulative(c, x, row));
    for (int64_t i = row * samples; i < (row + 1) * samples; ++i) {
      const double at = stream.uniform(static_cast<uint64_t>(i)) * p.back();
      // The first class whose sum is above: never one of probability 0. The product may round up.
      auto found = std::upper_bound(p.begin(), p.end(), at);
      if (found == p.end()) found = std::lower_bound(p.begin(), p.end(), p.back());
      const int64_t outcome = found - p.begin();
      if (dtype == DType::kI32) {
        static_cast<int32_t*>(memory)[i] = static_cast<int32_t>(outcome);
      } else {
        static_cast<int64_t*>(memory)[i] = outcome;
      }
    }
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_multinomial() {
  OpDef def{"",    "Multinomial", 7, kLastOpset, 1, 1, 1, 1, {"dtype", "sample_size", "seed"},
            infer, reference};
  def.impure = true;
  return {def};
}

}  // namespace hasten
