#include "measure/sequential.h"

#include <cmath>
#include <limits>

namespace hasten {

Interval mean_interval(std::span<const double> values, double alpha) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kPriorPrecision = 0.1;  // 1 / 3.2^2: favours large effects seen in few values
  const double n = static_cast<double>(values.size());
  if (values.size() < 2) return {-kInfinity, kInfinity};
  // The Bayes factor at T = t^2 / (n - 1) is sqrt(r) * ((1 + T) / (1 + r T))^(n / 2); the interval
  // holds the means at which it stays below 1 / alpha.
  const double r = kPriorPrecision / (n + kPriorPrecision);
  const double q = std::pow(1 / (alpha * std::sqrt(r)), 2 / n);
  if (r * q >= 1) return {-kInfinity, kInfinity};
  const double t = std::sqrt((n - 1) * (q - 1) / (1 - r * q));
  const double center = mean(values);
  const double half = t * standard_deviation(values) / std::sqrt(n);
  return {center - half, center + half};
}

}  // namespace hasten
