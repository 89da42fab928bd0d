// Robust statistics of latencies. All take milliseconds (or any unit) and give the same unit back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hasten {

/// A probability as a fraction of integers, so that ranks are exact: 7 % of 100 is rank 7.
struct Fraction {
  int64_t num = 1;
  int64_t den = 2;
};
inline constexpr Fraction kP50{1, 2}, kP90{9, 10}, kP99{99, 100}, kP999{999, 1000};

struct Interval {
  double lo = 0;
  double hi = 0;
};

std::vector<double> sorted(std::span<const double> values);

/// ceil(p * n), at least 1: the rank (from 1) of the nearest-rank quantile.
int64_t nearest_rank(int64_t n, Fraction p);

/// The nearest-rank quantile of values in ascending order, which must not be empty. Always one of
/// the values. Source: Hyndman & Fan 1996, definition 1.
double quantile_sorted(std::span<const double> ascending, Fraction p);
/// The same of values in any order.
double quantile(std::span<const double> values, Fraction p);
/// The mean of the two middle values for an even count, so that it is symmetric. Not of nothing.
double median(std::span<const double> values);

/// Distribution-free interval of a quantile from order statistics, each tail at most
/// (1 - confidence) / 2. Nothing where the sample is too small to hold both ends: at 95 % it takes
/// 6 for P50, 36 for P90, 368 for P99, 3,688 for P99.9. The samples count as independent.
/// Source: David & Nagaraja, Order Statistics, 2003, 7.1; Le Boudec, Performance Evaluation, 2010.
std::optional<Interval> quantile_interval(std::span<const double> ascending, Fraction p,
                                          double confidence = 0.95);

double mean(std::span<const double> values);
/// Of the sample (divides by n - 1); 0 for fewer than two values.
double standard_deviation(std::span<const double> values);
/// Median absolute deviation from the median, not scaled. For normal data sigma = 1.4826 * mad.
double median_absolute_deviation(std::span<const double> values);

/// How many values have a modified z-score above 3.5. Source: Iglewicz & Hoaglin 1993, How to
/// Detect and Handle Outliers.
int64_t count_outliers(std::span<const double> values);

/// Hartigan's dip: the distance of the values from the nearest unimodal distribution, in [0, 0.25].
/// Source: Hartigan & Hartigan 1985, The dip test of unimodality; Hartigan 1985, AS 217.
double dip(std::span<const double> ascending);

/// Two regimes in one sample: their medians and the share of the slower one.
struct Modes {
  double low = 0, high = 0;
  double high_share = 0;
};
/// Two modes, if the dip test refuses unimodality (p < 0.001), each has at least 10 % of the values
/// and the medians differ by at least 5 %. Needs 20 values.
std::optional<Modes> find_modes(std::span<const double> values);

/// A level that doesn't hold.
struct Unsteady {
  enum class Kind { kChange, kTrend } kind = Kind::kChange;
  int64_t at = 0;                // kChange: index of the first value after it
  double before = 0, after = 0;  // medians before and after; for a trend, fitted at both ends
};
/// A change point or a trend of at least 3 % that chance doesn't explain (p < 0.001), tested on the
/// medians of at most 64 batches in order of time. Needs 20 values.
/// Source: Pettitt 1979 (change point); Mann 1945, Theil 1950, Sen 1968 (trend).
std::optional<Unsteady> find_unsteady(std::span<const double> values);

/// Lag-k autocorrelation, in [-1, 1]; 0 for constant or too few values.
double autocorrelation(std::span<const double> values, int64_t lag);
/// How many independent values these are worth (at most n). Source: Geyer 1992, initial positive
/// sequence estimator.
double effective_samples(std::span<const double> values);

}  // namespace hasten
