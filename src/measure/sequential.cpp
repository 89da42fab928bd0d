#include "measure/sequential.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hasten {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Half of the interval's width, in standard errors of the mean of n values.
double half_width(double n, double alpha) {
  constexpr double kPriorPrecision = 0.1;  // 1 / 3.2^2: favours large effects seen in few values
  // The Bayes factor at T = t^2 / (n - 1) is sqrt(r) * ((1 + T) / (1 + r T))^(n / 2); the interval
  // holds the means at which it stays below 1 / alpha.
  const double r = kPriorPrecision / (n + kPriorPrecision);
  const double q = std::pow(1 / (alpha * std::sqrt(r)), 2 / n);
  return r * q >= 1 ? kInfinity : std::sqrt((n - 1) * (q - 1) / (1 - r * q));
}

}  // namespace

Interval mean_interval(std::span<const double> values, double alpha) {
  if (values.size() < 2) return {-kInfinity, kInfinity};
  const double n = static_cast<double>(values.size());
  const double t = half_width(n, alpha);
  if (!std::isfinite(t)) return {-kInfinity, kInfinity};
  const double center = mean(values);
  const double half = t * standard_deviation(values) / std::sqrt(n);
  return {center - half, center + half};
}

std::optional<int64_t> values_to_decide(std::span<const double> values, double alpha, double margin,
                                        int64_t most) {
  if (values.size() < 4) return std::nullopt;
  const double center = std::fabs(mean(values)), spread = standard_deviation(values);
  const auto decides = [&](int64_t n) {
    const double half =
        half_width(static_cast<double>(n), alpha) * spread / std::sqrt(static_cast<double>(n));
    return half < center || half + center <= margin;
  };
  // The width falls with n: double, then halve the step.
  auto lo = static_cast<int64_t>(values.size()), hi = lo;
  while (!decides(hi)) {
    if (hi >= most) return std::nullopt;
    lo = hi;
    hi = std::min(2 * hi, most);
  }
  while (lo + 1 < hi) {
    const int64_t middle = lo + (hi - lo) / 2;
    (decides(middle) ? hi : lo) = middle;
  }
  return hi;
}

}  // namespace hasten
