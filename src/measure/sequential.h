// Intervals that stay valid however often one looks at the data, and whenever one stops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "measure/statistics.h"

namespace hasten {

/// Interval of the mean of independent, roughly normal values of unknown variance. The chance that
/// the interval misses the mean after *any* number of values is at most alpha. Infinite for fewer
/// than 4 values or so (at alpha = 1 %).
///
/// It inverts the t-test's Bayes factor with a normal prior of standard deviation 3.2 on the effect
/// size mean / sigma, a test martingale under the invariance to scale. Against the fixed-size
/// t interval it is about 1.6 times as wide, the price of looking after every value.
/// Source: Lai 1976, On confidence sequences; Wang & Ramdas 2024, Anytime-valid t-tests and
/// confidence sequences for Gaussian means with unknown variance.
Interval mean_interval(std::span<const double> values, double alpha);

/// How many values there will be when the interval of mean_interval() excludes 0, or lies within
/// +-margin of it, if mean and spread stay as they are in `values`. Nothing if more than
/// `most` values don't do, or if there are fewer than four to tell the spread from.
std::optional<int64_t> values_to_decide(std::span<const double> values, double alpha, double margin,
                                        int64_t most);

}  // namespace hasten
