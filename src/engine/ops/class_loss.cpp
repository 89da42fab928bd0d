#include "engine/ops/class_loss.h"

#include <cmath>
#include <limits>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

constexpr size_t kScores = 0, kLabels = 1, kWeights = 2;

enum class Reduction { kNone, kSum, kMean };

Result<Reduction> reduction_of(const OpContext& c) {
  const std::string text = c.node().attr_string("reduction", "mean");
  if (text == "none") return Reduction::kNone;
  if (text == "sum") return Reduction::kSum;
  if (text == "mean") return Reduction::kMean;
  return c.invalid("attribute 'reduction' is '{}', it must be 'none', 'sum' or 'mean'", text);
}

Status check_shapes(const InferContext& c, const Facts& x, const Facts& labels,
                    const Facts& weights) {
  if (x.has_shape && x.rank() < 2) {
    return c.invalid("scores have the shape {}, it must be [N,C,...]", shape_text(x.shape));
  }
  if (x.has_shape && labels.has_shape && labels.rank() + 1 != x.rank()) {
    return c.invalid("labels have rank {}, scores {}: it must be one less", labels.rank(),
                     x.rank());
  }
  for (size_t d = 0; x.has_shape && labels.has_shape && d < labels.rank(); ++d) {
    const Dim want = x.shape[d == 0 ? 0 : d + 1];
    if (want.known() && labels.shape[d].known() && want != labels.shape[d]) {
      return c.invalid("labels have the shape {}, scores {}", shape_text(labels.shape),
                       shape_text(x.shape));
    }
  }
  if (!weights.has_shape) return {};
  if (weights.rank() != 1) return c.invalid("weights have rank {}, it must be 1", weights.rank());
  if (x.has_shape && x.shape[1].known() && weights.shape[0].known() &&
      x.shape[1] != weights.shape[0]) {
    return c.invalid("{} weights for {} classes", weights.shape[0].text(), x.shape[1].text());
  }
  return {};
}

Status infer(InferContext& c, bool bf16) {
  const Facts &x = c.in(kScores), &labels = c.in(kLabels), &weights = c.in(kWeights);
  HASTEN_CHECK(check_dtype(c, kScores, bf16 ? kFloats : kFloats & ~dtypes({DType::kBF16})));
  HASTEN_CHECK(check_dtype(c, kLabels, dtypes({DType::kI32, DType::kI64})));
  if (weights.dtype != DType::kNone && weights.dtype != x.dtype) {
    return c.invalid("weights are {}, scores {}", dtype_name(weights.dtype), dtype_name(x.dtype));
  }
  HASTEN_CHECK(check_shapes(c, x, labels, weights));
  HASTEN_TRY(const Reduction reduction, reduction_of(c));
  if (reduction != Reduction::kNone) {
    c.set(0, x.dtype, {});
  } else if (labels.has_shape) {
    c.set(0, x.dtype, labels.shape);
  } else {
    c.set_unknown(0, x.dtype);
  }
  if (x.has_shape) {
    c.set(1, x.dtype, x.shape);
  } else {
    c.set_unknown(1, x.dtype);
  }
  return {};
}

/// Scores as doubles; log-probabilities along axis 1 of [n, classes, inner] where asked for.
std::vector<double> log_probabilities(const TensorView& x, int64_t n, int64_t classes,
                                      int64_t inner, bool softmax) {
  std::vector<double> y(static_cast<size_t>(x.count()));
  dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < y.size(); ++i) y[i] = Compute<T>::load(x.as<T>()[i]);
  });
  if (y.empty()) return y;  // maybe of rows without classes
  for (int64_t row = 0; softmax && row < n * inner; ++row) {
    double* first = y.data() + row / inner * classes * inner + row % inner;
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t k = 0; k < classes; ++k) max = std::max(max, first[k * inner]);
    for (int64_t k = 0; k < classes; ++k) sum += std::exp(first[k * inner] - max);
    const double log_sum = std::log(sum);
    for (int64_t k = 0; k < classes; ++k) first[k * inner] = first[k * inner] - max - log_sum;
  }
  return y;
}

Status store(RefContext& c, size_t output, DType dtype, const Dims& dims,
             std::span<const double> values) {
  if (!c.has_out(output)) return {};
  HASTEN_TRY(void* memory, c.out(output, dtype, dims));
  dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < values.size(); ++i) {
      static_cast<T*>(memory)[i] = convert_number<T>(values[i]);
    }
  });
  return {};
}

Status loss(RefContext& c, bool softmax) {
  const TensorView &x = c.in(kScores), &labels = c.in(kLabels), &weights = c.in(kWeights);
  HASTEN_TRY(const Reduction reduction, reduction_of(c));
  const int64_t n = x.dims[0], classes = x.dims[1];
  const int64_t inner = count_of(std::span(x.dims).subspan(2));
  const std::vector<double> y = log_probabilities(x, n, classes, inner, softmax);
  const std::vector<int64_t> label = read_ints(labels);
  const bool ignores = c.node().find_attr("ignore_index") != nullptr;
  const int64_t ignored = c.node().attr_int("ignore_index", 0);
  std::vector<double> weight(static_cast<size_t>(classes), 1.0);
  dispatch_float(weights.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < weight.size(); ++i) weight[i] = Compute<T>::load(weights.as<T>()[i]);
  });

  std::vector<double> losses(label.size(), 0.0);
  double sum = 0, weight_sum = 0;
  for (size_t i = 0; i < label.size(); ++i) {
    const int64_t k = label[i], row = static_cast<int64_t>(i);
    if (ignores && k == ignored) continue;
    if (k < 0 || k >= classes) {
      return c.invalid("label {} is {}, there are {} classes", i, k, classes);
    }
    const double w = weight[static_cast<size_t>(k)];
    const int64_t at = (row / inner * classes + k) * inner + row % inner;
    losses[i] = -y[static_cast<size_t>(at)] * w;
    sum += losses[i];
    weight_sum += w;
  }
  if (reduction == Reduction::kNone) {
    HASTEN_CHECK(store(c, 0, x.dtype, labels.dims, losses));
  } else {
    const double total = reduction == Reduction::kSum ? sum : sum / weight_sum;
    HASTEN_CHECK(store(c, 0, x.dtype, {}, std::span(&total, 1)));
  }
  return store(c, 1, x.dtype, x.dims, y);
}

Status infer_scores(InferContext& c) { return infer(c, c.node().version >= 13); }
Status infer_logs(InferContext& c) { return infer(c, false); }
Status reference_scores(RefContext& c) { return loss(c, true); }
Status reference_logs(RefContext& c) { return loss(c, false); }

}  // namespace

std::vector<OpDef> class_loss(const char* name, bool softmax) {
  OpDef v12{"",
            name,
            12,
            12,
            2,
            3,
            1,
            softmax ? 2 : 1,
            {"ignore_index", "reduction"},
            softmax ? infer_scores : infer_logs,
            softmax ? reference_scores : reference_logs};
  OpDef v13 = v12;
  v13.since = 13;
  v13.until = kLastOpset;
  return {v12, v13};
}

}  // namespace hasten
