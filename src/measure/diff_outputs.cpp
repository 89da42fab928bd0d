#include "measure/diff_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/numbers.h"

namespace hasten {
namespace {

template <class T>
std::vector<double> widen(const TensorView& view) {
  const T* data = view.as<T>();
  return std::vector<double>(data, data + view.count());
}

template <class T>
std::vector<double> widen_16(const TensorView& view) {
  const T* data = view.as<T>();
  std::vector<double> out(static_cast<size_t>(view.count()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = to_float(data[i]);
  return out;
}

std::vector<double> to_doubles(const TensorView& view) {
  switch (view.dtype) {
    case DType::kF32:
      return widen<float>(view);
    case DType::kF64:
      return widen<double>(view);
    case DType::kF16:
      return widen_16<Half>(view);
    case DType::kBF16:
      return widen_16<BFloat16>(view);
    case DType::kI8:
      return widen<int8_t>(view);
    case DType::kI16:
      return widen<int16_t>(view);
    case DType::kI32:
      return widen<int32_t>(view);
    case DType::kI64:
      return widen<int64_t>(view);
    case DType::kU8:
      return widen<uint8_t>(view);
    case DType::kU16:
      return widen<uint16_t>(view);
    case DType::kU32:
      return widen<uint32_t>(view);
    case DType::kU64:
      return widen<uint64_t>(view);
    case DType::kBool:
      return widen<uint8_t>(view);
    default:
      return {};
  }
}

std::string describe(const TensorView& view) {
  return fmt::format("{}{}", dtype_name(view.dtype), dims_text(view.dims));
}

/// Do both rows have their maximum at the same place? NaN never is one.
bool same_top(const double* a, const double* b, size_t columns) {
  auto top = [&](const double* row) {
    size_t best = 0;
    for (size_t i = 1; i < columns; ++i) {
      if (row[i] > row[best] || std::isnan(row[best])) best = i;
    }
    return best;
  };
  const size_t i = top(a), j = top(b);
  return i == j || a[i] == a[j] || b[i] == b[j];
}

}  // namespace

void OutputDiffer::add(std::span<const TensorView> a, std::span<const TensorView> b) {
  ++samples_;
  if (!reason_.empty()) return;
  if (a.size() != b.size()) {
    reason_ = fmt::format("A has {} outputs, B has {}", a.size(), b.size());
    return;
  }
  for (size_t i = 0; i < a.size() && reason_.empty(); ++i) add_output(i, a[i], b[i]);
}

void OutputDiffer::add_output(size_t index, const TensorView& a, const TensorView& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.dtype != b.dtype || a.dims != b.dims) {
    reason_ = fmt::format("output {} of sample {}: {} and {}", index, samples_ - 1, describe(a),
                          describe(b));
    return;
  }
  if (a.dtype == DType::kSequence || a.dtype == DType::kOptional) {
    for (int64_t i = 0; i < a.count() && reason_.empty(); ++i) {
      add_output(index, a.as<Tensor>()[i].view(), b.as<Tensor>()[i].view());
    }
    return;
  }
  if (a.dtype == DType::kString) {
    const auto* s = a.as<std::string>();
    if (!std::equal(s, s + a.count(), b.as<std::string>())) max_abs_ = max_rel_ = kInfinity;
    return;
  }
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  double apart = 0, scale = 0, xx = 0, yy = 0, xy = 0;
  bool broken = false;
  for (size_t i = 0; i < x.size(); ++i) {
    if ((std::isnan(x[i]) && std::isnan(y[i])) || (x[i] == y[i] && std::isinf(x[i]))) continue;
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
      broken = true;
      continue;
    }
    apart = std::max(apart, std::fabs(x[i] - y[i]));
    scale = std::max(scale, std::fabs(x[i]));
    xx += x[i] * x[i];
    yy += y[i] * y[i];
    xy += x[i] * y[i];
  }
  if (broken) apart = kInfinity;
  max_abs_ = std::max(max_abs_, apart);
  if (apart > 0) max_rel_ = std::max(max_rel_, scale > 0 ? apart / scale : kInfinity);
  const bool zero = xx == 0 && yy == 0;  // both: the same direction, none
  const double cosine = zero ? 1 : xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx) / std::sqrt(yy);
  cosine_ = std::min(cosine_, broken ? 0 : cosine);

  if (!is_float(a.dtype) || a.dims.empty() || a.dims.size() > 3 || a.dims.back() < 2) return;
  const auto columns = static_cast<size_t>(a.dims.back());
  for (size_t row = 0; row + columns <= x.size(); row += columns) {
    ++rows_;
    agreeing_ += same_top(&x[row], &y[row], columns);
  }
}

OutputDiff OutputDiffer::result() const {
  OutputDiff diff;
  diff.samples = samples_;
  diff.reason = samples_ == 0 ? "no outputs were compared" : reason_;
  if (!diff.reason.empty()) return diff;
  diff.max_abs = max_abs_;
  diff.max_rel = max_rel_;
  diff.cosine = cosine_;
  if (rows_ > 0) diff.top1_agreement = static_cast<double>(agreeing_) / static_cast<double>(rows_);
  if (rows_ == 0) diff.reason = "top-1: no float output has rows of scores";
  return diff;
}

}  // namespace hasten
