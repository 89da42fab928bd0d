#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hasten {
namespace {

/// log of the binomial coefficient. (lgamma_r: lgamma writes a global.)
double log_choose(int64_t n, int64_t k) {
  int sign;
  auto lg = [&](int64_t x) { return lgamma_r(static_cast<double>(x), &sign); };
  return lg(n + 1) - lg(k + 1) - lg(n - k + 1);
}

/// P(Bin(n, p) <= k), summed away from the mean until terms no longer count.
double binomial_cdf(int64_t n, double p, int64_t k) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  const bool upper = static_cast<double>(k) > p * static_cast<double>(n);
  const int64_t step = upper ? 1 : -1;
  int64_t i = upper ? k + 1 : k;
  double term = std::exp(log_choose(n, i) + static_cast<double>(i) * std::log(p) +
                         static_cast<double>(n - i) * std::log1p(-p));
  const double odds = p / (1 - p);
  double sum = 0;
  for (; i >= 0 && i <= n; i += step) {
    sum += term;
    if (term < 1e-17 * sum) break;
    // The next binomial probability from this one.
    term *= upper ? static_cast<double>(n - i) / static_cast<double>(i + 1) * odds
                  : static_cast<double>(i) / static_cast<double>(n - i + 1) / odds;
  }
  return upper ? 1 - sum : sum;
}

}  // namespace

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

int64_t nearest_rank(int64_t n, Fraction p) {
  // Split so that n * num can't overflow.
  const int64_t whole = n / p.den * p.num;
  const int64_t rest = (n % p.den * p.num + p.den - 1) / p.den;
  return std::clamp<int64_t>(whole + rest, 1, std::max<int64_t>(n, 1));
}

double quantile_sorted(std::span<const double> ascending, Fraction p) {
  return ascending[static_cast<size_t>(nearest_rank(static_cast<int64_t>(ascending.size()), p) -
                                       1)];
}

double quantile(std::span<const double> values, Fraction p) {
  std::vector<double> copy(values.begin(), values.end());
  auto at = copy.begin() + nearest_rank(static_cast<int64_t>(copy.size()), p) - 1;
  std::nth_element(copy.begin(), at, copy.end());
  return *at;
}

double median(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  auto middle = copy.begin() + static_cast<int64_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(copy.begin(), middle)) / 2;
}

std::optional<Interval> quantile_interval(std::span<const double> ascending, Fraction p,
                                          double confidence) {
  const int64_t n = static_cast<int64_t>(ascending.size());
  const double tail = (1 - confidence) / 2;
  const double q = static_cast<double>(p.num) / static_cast<double>(p.den);
  // X(l) lies above the quantile with P(Bin <= l - 1), X(u) below it with P(Bin >= u).
  if (n == 0 || binomial_cdf(n, q, 0) > tail || 1 - binomial_cdf(n, q, n - 1) > tail) return {};
  int64_t lo = 1, beyond = n + 1;  // largest l with cdf(l - 1) <= tail
  while (beyond - lo > 1) {
    const int64_t mid = lo + (beyond - lo) / 2;
    (binomial_cdf(n, q, mid - 1) <= tail ? lo : beyond) = mid;
  }
  int64_t below = 0, hi = n;  // smallest u with 1 - cdf(u - 1) <= tail
  while (hi - below > 1) {
    const int64_t mid = below + (hi - below) / 2;
    (1 - binomial_cdf(n, q, mid - 1) <= tail ? hi : below) = mid;
  }
  return Interval{ascending[static_cast<size_t>(lo - 1)], ascending[static_cast<size_t>(hi - 1)]};
}

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double sum = 0;
  for (double x : values) sum += (x - center) * (x - center);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double median_absolute_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (double x : values) deviations.push_back(std::fabs(x - center));
  return median(deviations);
}

int64_t count_outliers(std::span<const double> values) {
  if (values.empty()) return 0;
  const double center = median(values), mad = median_absolute_deviation(values);
  if (mad == 0) return 0;
  return std::count_if(values.begin(), values.end(),
                       [&](double x) { return 0.6745 * std::fabs(x - center) > 3.5 * mad; });
}

double autocorrelation(std::span<const double> values, int64_t lag) {
  const int64_t n = static_cast<int64_t>(values.size());
  if (lag < 0 || lag >= n) return 0;
  const double center = mean(values);
  double all = 0, lagged = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double d = values[static_cast<size_t>(i)] - center;
    all += d * d;
    if (i + lag < n) lagged += d * (values[static_cast<size_t>(i + lag)] - center);
  }
  return all > 0 ? lagged / all : 0;
}

double effective_samples(std::span<const double> values) {
  const int64_t n = static_cast<int64_t>(values.size());
  if (n < 4) return static_cast<double>(n);
  // Sums of neighbouring pairs are positive in theory; the first that isn't is noise.
  double sum = 0;
  const int64_t most = std::min<int64_t>({n / 2, 1000, 2 + 20'000'000 / n});  // bounded work
  for (int64_t lag = 1; lag + 1 < most; lag += 2) {
    const double pair = autocorrelation(values, lag) + autocorrelation(values, lag + 1);
    if (pair <= 0) break;
    sum += pair;
  }
  return static_cast<double>(n) / (1 + 2 * sum);
}

}  // namespace hasten
