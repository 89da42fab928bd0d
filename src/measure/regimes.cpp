// Is it one distribution? Two modes, change points, trends (declared in statistics.h).
#include <algorithm>
#include <cmath>

#include "measure/statistics.h"

namespace hasten {
namespace {

/// For every point the next corner of the greatest convex minorant of the points (x[i], i) to its
/// left, or (`left` false) of the least concave majorant to its right.
std::vector<int64_t> corners(std::span<const double> x, bool left) {
  const int64_t n = static_cast<int64_t>(x.size());
  const int64_t step = left ? 1 : -1, first = left ? 0 : n - 1;
  auto at = [&](int64_t i) { return x[static_cast<size_t>(i)]; };
  std::vector<int64_t> next(static_cast<size_t>(n), first);
  for (int64_t i = first + step; i >= 0 && i < n; i += step) {
    int64_t a = i - step;
    while (a != first) {
      const int64_t b = next[static_cast<size_t>(a)];
      // `a` is a corner while the slope between i and a is steeper than between a and b.
      if ((at(i) - at(a)) * static_cast<double>(a - b) <
          (at(a) - at(b)) * static_cast<double>(i - a)) {
        break;
      }
      a = b;
    }
    next[static_cast<size_t>(i)] = a;
  }
  return next;
}

/// The largest distance of the steps (x[i], i) from the chord between b and e: above it (for the
/// minorant) or below it.
double chord_distance(std::span<const double> x, int64_t b, int64_t e, bool above) {
  double most = 1;
  const double x0 = x[static_cast<size_t>(b)], x1 = x[static_cast<size_t>(e)];
  if (e - b <= 1 || x0 == x1) return most;
  const double slope = static_cast<double>(e - b) / (x1 - x0);
  for (int64_t i = b; i <= e; ++i) {
    const double chord = (x[static_cast<size_t>(i)] - x0) * slope;
    const double steps = static_cast<double>(i - b);
    most = std::max(most, above ? steps + 1 - chord : chord - steps + 1);
  }
  return most;
}

/// Where minorant and majorant (corner lists, downwards and upwards) are farthest apart.
struct Gap {
  double size = 0;
  size_t minorant = 0, majorant = 0;
};
Gap widest_gap(std::span<const double> x, const std::vector<int64_t>& gcm,
               const std::vector<int64_t>& lcm) {
  auto at = [&](int64_t i) { return x[static_cast<size_t>(i)]; };
  Gap gap{0, gcm.size() - 1, lcm.size() - 1};
  if (gcm.size() <= 2 && lcm.size() <= 2) return {1, gap.minorant, gap.majorant};
  size_t ix = gcm.size() - 2, iv = 1;
  do {
    const int64_t g = gcm[ix], l = lcm[iv];
    if (g > l) {  // a corner of the majorant over a piece of the minorant
      const int64_t g1 = gcm[ix + 1];
      const double d = static_cast<double>(l - g1 + 1) -
                       (at(l) - at(g1)) * static_cast<double>(g - g1) / (at(g) - at(g1));
      if (d >= gap.size) gap = {d, ix + 1, iv};
      iv = std::min(iv + 1, lcm.size() - 1);
    } else {  // a corner of the minorant under a piece of the majorant
      const int64_t l1 = lcm[iv - 1];
      const double d = (at(g) - at(l1)) * static_cast<double>(l - l1) / (at(l) - at(l1)) -
                       static_cast<double>(g - l1 - 1);
      if (d >= gap.size) gap = {d, ix, iv};
      if (ix > 0) --ix;
    }
  } while (gcm[ix] != lcm[iv]);
  return gap;
}

/// The first value of batch i when n values are cut into `count` batches of nearly equal size.
size_t batch_begin(size_t i, size_t count, size_t n) { return i * n / count; }

std::vector<double> batch_medians(std::span<const double> values, size_t most) {
  const size_t count = std::min(most, values.size());
  std::vector<double> medians;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = batch_begin(i, count, values.size());
    medians.push_back(
        median(values.subspan(begin, batch_begin(i + 1, count, values.size()) - begin)));
  }
  return medians;
}

int sign(double x) { return (x > 0) - (x < 0); }

constexpr double kUnlikely = 0.001;
constexpr double kRelevant = 0.03;

std::optional<Unsteady> find_change(std::span<const double> batches,
                                    std::span<const double> values) {
  const size_t n = batches.size();
  double most = 0, statistic = 0;
  size_t at = 0;
  for (size_t t = 0; t + 1 < n; ++t) {
    for (size_t j = 0; j < n; ++j) statistic += sign(batches[t] - batches[j]);
    if (std::fabs(statistic) > most) {
      most = std::fabs(statistic);
      at = t + 1;
    }
  }
  const double m = static_cast<double>(n);
  if (2 * std::exp(-6 * most * most / (m * m * m + m * m)) >= kUnlikely) return {};
  const size_t first = batch_begin(at, n, values.size());
  Unsteady change{Unsteady::Kind::kChange, static_cast<int64_t>(first), 0, 0};
  change.before = median(values.subspan(0, first));
  change.after = median(values.subspan(first));
  if (std::fabs(change.after - change.before) < kRelevant * change.before) return {};
  return change;
}

std::optional<Unsteady> find_trend(std::span<const double> batches) {
  const size_t n = batches.size();
  double score = 0;
  std::vector<double> slopes;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) {
      score += sign(batches[j] - batches[i]);
      slopes.push_back((batches[j] - batches[i]) / static_cast<double>(j - i));
    }
  }
  const double m = static_cast<double>(n);
  const double sd = std::sqrt(m * (m - 1) * (2 * m + 5) / 18);
  const double z = score == 0 ? 0 : (std::fabs(score) - 1) / sd;
  if (std::erfc(z / std::sqrt(2.0)) >= kUnlikely) return {};
  const double rise = median(slopes) * (m - 1), center = median(batches);
  if (std::fabs(rise) < kRelevant * center) return {};
  return Unsteady{Unsteady::Kind::kTrend, 0, center - rise / 2, center + rise / 2};
}

}  // namespace

double dip(std::span<const double> x) {
  const int64_t n = static_cast<int64_t>(x.size());
  if (n < 4 || x.front() == x.back()) return 0;
  const std::vector<int64_t> minorant = corners(x, true), majorant = corners(x, false);
  int64_t low = 0, high = n - 1;  // the modal interval, shrunk until it stops
  double worst = 1;               // in steps of 1 / n; twice the dip
  while (true) {
    std::vector<int64_t> gcm = {high}, lcm = {low};
    while (gcm.back() > low) gcm.push_back(minorant[static_cast<size_t>(gcm.back())]);
    while (lcm.back() < high) lcm.push_back(majorant[static_cast<size_t>(lcm.back())]);
    const Gap gap = widest_gap(x, gcm, lcm);
    if (gap.size < worst) break;
    for (size_t j = gap.minorant; j + 1 < gcm.size(); ++j) {
      worst = std::max(worst, chord_distance(x, gcm[j + 1], gcm[j], true));
    }
    for (size_t j = gap.majorant; j + 1 < lcm.size(); ++j) {
      worst = std::max(worst, chord_distance(x, lcm[j], lcm[j + 1], false));
    }
    if (low == gcm[gap.minorant] && high == lcm[gap.majorant]) break;
    low = gcm[gap.minorant];
    high = lcm[gap.majorant];
  }
  return worst / (2 * static_cast<double>(n));
}

std::optional<Modes> find_modes(std::span<const double> values) {
  if (values.size() < 20) return {};
  const std::vector<double> x = sorted(values);
  const size_t n = x.size();
  // 0.70: the 99.9 % point of sqrt(n) * dip of uniform data, the least favourable unimodal law.
  if (std::sqrt(static_cast<double>(n)) * dip(x) < 0.70) return {};
  // The split that leaves the least variance inside the two parts (Otsu 1979), in logs, so that
  // outliers weigh less.
  double all = 0;
  for (double v : x) all += std::log(v);
  double left = 0, best = -1;
  size_t cut = 0;
  for (size_t i = 1; i < n; ++i) {
    left += std::log(x[i - 1]);
    const double a = static_cast<double>(i), b = static_cast<double>(n - i);
    const double gap = left / a - (all - left) / b;
    if (std::min(a, b) < 0.1 * static_cast<double>(n) || a * b * gap * gap <= best) continue;
    best = a * b * gap * gap;
    cut = i;
  }
  const std::span<const double> ascending(x);
  const Modes modes{median(ascending.subspan(0, cut)), median(ascending.subspan(cut)),
                    static_cast<double>(n - cut) / static_cast<double>(n)};
  if (modes.high < 1.05 * modes.low) return {};
  return modes;
}

std::optional<Unsteady> find_unsteady(std::span<const double> values) {
  if (values.size() < 20) return {};
  const std::vector<double> batches = batch_medians(values, 64);
  const std::optional<Unsteady> change = find_change(batches, values);
  const std::optional<Unsteady> trend = find_trend(batches);
  if (!change || !trend) return change ? change : trend;
  // Each test also fires on the other's cause: the model with the smaller absolute error tells it.
  double step_error = 0, line_error = 0;
  const double m = static_cast<double>(batches.size() - 1);
  for (size_t i = 0; i < batches.size(); ++i) {
    const size_t first = batch_begin(i, batches.size(), values.size());
    const bool before = first < static_cast<size_t>(change->at);
    step_error += std::fabs(batches[i] - (before ? change->before : change->after));
    line_error += std::fabs(batches[i] - trend->before -
                            (trend->after - trend->before) * static_cast<double>(i) / m);
  }
  return step_error <= line_error ? change : trend;
}

}  // namespace hasten
