#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "measure/warmup.h"

namespace hasten {
namespace {

std::vector<double> count_up(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

std::vector<double> normal(std::mt19937_64& random, int n, double center, double sd) {
  std::normal_distribution<double> noise(center, sd);
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(noise(random));
  return values;
}

TEST(Quantile, NearestRank) {
  EXPECT_EQ(quantile(std::vector<double>{10, 20, 30}, kP99), 30);
  EXPECT_EQ(quantile(count_up(20), {95, 100}), 18);
  EXPECT_EQ(quantile(count_up(100), kP99), 98);
  EXPECT_EQ(quantile(count_up(10), kP90), 8);  // the 9th
  EXPECT_EQ(nearest_rank(100, {7, 100}), 7);   // 0.07 * 100 is 7.000000000000001 in floating point
  EXPECT_EQ(nearest_rank(INT64_MAX / 2, kP50), INT64_MAX / 4 + 1);
  for (Fraction p : {kP50, kP90, kP99, kP999, Fraction{0, 1}, Fraction{1, 1}}) {
    EXPECT_EQ(quantile(std::vector<double>{5}, p), 5);
  }
}

TEST(Quantile, NeverDecreasesWithP) {
  std::mt19937_64 random(1);
  for (int n = 1; n < 300; ++n) {
    std::vector<double> x = normal(random, n, 1, 1);
    double p50 = quantile(x, kP50), p90 = quantile(x, kP90), p99 = quantile(x, kP99);
    ASSERT_LE(p50, p90);
    ASSERT_LE(p90, p99);
    ASSERT_LE(p99, *std::max_element(x.begin(), x.end()));
  }
}

TEST(Quantile, IntervalOnlyWithEnoughSamples) {
  struct {
    Fraction p;
    int least;
  } cases[] = {{kP50, 6}, {kP90, 36}, {kP99, 368}, {kP999, 3688}};
  for (auto [p, least] : cases) {
    EXPECT_FALSE(quantile_interval(count_up(least - 1), p)) << least;
    EXPECT_TRUE(quantile_interval(count_up(least), p)) << least;
  }
  EXPECT_FALSE(quantile_interval({}, kP50));
}

TEST(Quantile, IntervalRanksOfTheTables) {
  // Le Boudec 2010, table A.1: n = 100, P50: order statistics 40 and 61; n = 10: 2 and 9.
  EXPECT_EQ(quantile_interval(count_up(100), kP50)->lo, 39);
  EXPECT_EQ(quantile_interval(count_up(100), kP50)->hi, 60);
  EXPECT_EQ(quantile_interval(count_up(10), kP50)->lo, 1);
  EXPECT_EQ(quantile_interval(count_up(10), kP50)->hi, 8);
  // A million samples: sqrt(n) * 1.96 / 2 ranks on either side.
  std::vector<double> many = count_up(1'000'000);
  EXPECT_NEAR(quantile_interval(many, kP50)->lo, 499'020, 3);
}

TEST(Quantile, IntervalCoversAsOftenAsItSays) {
  std::mt19937_64 random(2);
  std::exponential_distribution<double> draw(1);
  int covered = 0;
  const double truth = -std::log(0.1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> x;
    for (int j = 0; j < 200; ++j) x.push_back(draw(random));
    Interval interval = *quantile_interval(sorted(x), kP90);
    covered += interval.lo <= truth && truth <= interval.hi;
  }
  EXPECT_GE(covered, 1900 - 3 * 10);  // 95 % of 2000 less three standard errors
}

TEST(Robust, MedianMadOutliers) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_absolute_deviation(std::vector<double>{1, 1, 2, 2, 4, 6, 9}), 1);
  std::vector<double> x(50, 1.0);
  for (size_t i = 0; i < x.size(); ++i) x[i] += 0.001 * static_cast<double>(i % 7);
  EXPECT_EQ(count_outliers(x), 0);
  x[10] = 3;
  EXPECT_EQ(count_outliers(x), 1);
  EXPECT_EQ(count_outliers(std::vector<double>(9, 2.0)), 0);
}

TEST(Dip, KnownValues) {
  // Evenly spaced values are as unimodal as n values can be: dip = 1 / 2n.
  EXPECT_NEAR(dip(count_up(100)), 1.0 / 200, 1e-12);
  // Two far clusters of equal size: the dip tends to 1/4.
  std::vector<double> two;
  for (int i = 0; i < 100; ++i) two.push_back(i * 1e-6);
  for (int i = 0; i < 100; ++i) two.push_back(1 + i * 1e-6);
  EXPECT_NEAR(dip(two), 0.25, 0.01);
}

TEST(Dip, CriticalValueForUniformData) {
  // Hartigan & Hartigan 1985: sqrt(n) * dip of uniform samples; 95 % about 0.52, 99.9 % about 0.7.
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> draw(0, 1);
  std::vector<double> scaled;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> x;
    for (int j = 0; j < 200; ++j) x.push_back(draw(random));
    scaled.push_back(std::sqrt(200.0) * dip(sorted(x)));
  }
  EXPECT_NEAR(quantile(scaled, kP50), 0.36, 0.03);
  EXPECT_NEAR(quantile(scaled, {95, 100}), 0.52, 0.03);
  EXPECT_LE(std::count_if(scaled.begin(), scaled.end(), [](double d) { return d > 0.7; }), 8);
}

TEST(Modes, FoundAndNotInvented) {
  std::mt19937_64 random(4);
  int invented = 0;
  for (int i = 0; i < 300; ++i) {
    std::lognormal_distribution<double> draw(0, 0.2);
    std::vector<double> x;
    for (int j = 0; j < 300; ++j) x.push_back(draw(random));
    invented += find_modes(x).has_value();
  }
  EXPECT_EQ(invented, 0);
  std::vector<double> x = normal(random, 200, 1.0, 0.02), slow = normal(random, 100, 1.3, 0.03);
  x.insert(x.end(), slow.begin(), slow.end());
  std::shuffle(x.begin(), x.end(), random);
  std::optional<Modes> modes = find_modes(x);
  ASSERT_TRUE(modes);
  EXPECT_NEAR(modes->low, 1.0, 0.02);
  EXPECT_NEAR(modes->high, 1.3, 0.02);
  EXPECT_NEAR(modes->high_share, 1.0 / 3, 0.02);
}

TEST(Unsteady, ChangePointAndTrendAreFoundAndTold) {
  std::mt19937_64 random(5);
  std::vector<double> step = normal(random, 300, 1, 0.02), after = normal(random, 200, 1.1, 0.02);
  step.insert(step.end(), after.begin(), after.end());
  std::optional<Unsteady> change = find_unsteady(step);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, Unsteady::Kind::kChange);
  EXPECT_NEAR(static_cast<double>(change->at), 300, 10);
  EXPECT_NEAR(change->after / change->before, 1.1, 0.01);

  std::vector<double> line = normal(random, 500, 1, 0.02);
  for (size_t i = 0; i < line.size(); ++i) line[i] *= 1 + 0.1 * static_cast<double>(i) / 500;
  std::optional<Unsteady> trend = find_unsteady(line);
  ASSERT_TRUE(trend);
  EXPECT_EQ(trend->kind, Unsteady::Kind::kTrend);
  EXPECT_NEAR(trend->after / trend->before, 1.1, 0.02);
}

TEST(Unsteady, SteadyDataRaiseNothing) {
  std::mt19937_64 random(6);
  int raised = 0;
  for (int i = 0; i < 500; ++i) raised += find_unsteady(normal(random, 200, 1, 0.05)).has_value();
  EXPECT_LE(raised, 3);
}

TEST(EffectiveSamples, IndependentAndCorrelated) {
  std::mt19937_64 random(7);
  std::vector<double> x = normal(random, 2000, 0, 1);
  EXPECT_GT(effective_samples(x), 1500);
  for (size_t i = 1; i < x.size(); ++i) x[i] += 0.9 * x[i - 1];  // AR(1): worth (1-r)/(1+r) = 1/19
  EXPECT_NEAR(effective_samples(x), 2000.0 / 19, 60);
  EXPECT_EQ(autocorrelation(std::vector<double>(5, 1.0), 1), 0);
}

TEST(Warmup, SlowStartIsFoundExactly) {
  std::mt19937_64 random(8);
  for (int slow : {0, 1, 2, 3, 5, 8, 40}) {
    std::vector<double> x = normal(random, 200, 1, 0.02);
    for (int i = 0; i < slow; ++i) x[static_cast<size_t>(i)] *= 20;
    EXPECT_EQ(find_warmup(x).runs, slow);
    EXPECT_TRUE(find_warmup(x).ended);
  }
}

TEST(Warmup, DecayEndsNearTheSteadyLevel) {
  std::mt19937_64 random(9);
  std::vector<double> x = normal(random, 400, 1, 0.01);
  for (size_t i = 0; i < x.size(); ++i) x[i] += 3 * std::exp(-static_cast<double>(i) / 20);
  Warmup warmup = find_warmup(x);
  EXPECT_TRUE(warmup.ended);
  EXPECT_GT(warmup.runs, 50);  // 3 exp(-50 / 20) is 25 % too slow
  EXPECT_LT(warmup.runs, 140);
}

TEST(Warmup, FewRunsAndNoiseLaterDontMatter) {
  EXPECT_EQ(find_warmup(std::vector<double>{}).runs, 0);
  EXPECT_EQ(find_warmup(std::vector<double>{9, 1, 1}).runs, 0);  // too few to tell
  EXPECT_EQ(find_warmup(std::vector<double>{9, 1, 1, 1, 1, 1, 1, 1}).runs, 1);
  std::vector<double> x(200, 1.0);
  for (size_t i = 40; i < 70; ++i) x[i] = 2;  // somebody else's burst
  EXPECT_EQ(find_warmup(x).runs, 0);
}

TEST(Warmup, StillWarmingInTheMiddle) {
  std::vector<double> x(100, 1.0);
  std::fill(x.begin(), x.begin() + 60, 10.0);
  EXPECT_FALSE(find_warmup(x).ended);
  EXPECT_EQ(find_warmup(x).runs, 50);
  // A slope through the whole sample has no steady level; that is for find_unsteady to say.
  for (size_t i = 0; i < x.size(); ++i) x[i] = 100 - 0.9 * static_cast<double>(i);
  EXPECT_TRUE(find_unsteady(x));
}

}  // namespace
}  // namespace hasten
