#include "measure/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "measure/idle.h"
#include "measure/sequential.h"

namespace hasten {
namespace {

/// A machine in which time is simulated: all the ways in which a shared box misleads.
struct World {
  explicit World(uint64_t seed) : random(seed) {}
  std::mt19937_64 random;
  std::normal_distribution<double> normal;
  int64_t now_ns = 0;
  int64_t runs = 0;
  double open_ms = 2;
  double noise = 0.05;            // log-normal, of single runs
  double outliers = 0.01;         // share of runs that take three times as long
  double instance_effect = 0.02;  // sd of what an instance keeps for life
  double drift_per_s = 0;         // everything gets slower
  double odd_bias = 0;            // every other run is slower
  double bursts = 0;              // share of 100 ms windows in which somebody else runs

  double run_ms(double base, double instance) {
    const double t = static_cast<double>(now_ns) * 1e-9;
    double ms = base * instance * (1 + drift_per_s * t);
    ms *= std::exp(noise * normal(random));
    if (static_cast<double>(random() >> 32) < outliers * 0x1p32) ms *= 3;
    if (runs++ % 2 == 1) ms *= 1 + odd_bias;
    const auto window = static_cast<uint64_t>(now_ns / 100'000'000) * 0x9e3779b97f4a7c15u;
    if (static_cast<double>(window >> 32) < bursts * 0x1p32) ms *= 1.5;
    now_ns += static_cast<int64_t>(ms * 1e6);
    return ms;
  }
};

class FakeInstance : public Instance {
 public:
  FakeInstance(World& world, double base) : world_(world), base_(base) {
    world.now_ns += static_cast<int64_t>(world.open_ms * 1e6);
    effect_ = std::exp(world.instance_effect * world.normal(world.random));
  }
  Result<double> run_once_ms() override { return world_.run_ms(base_, effect_); }
  double load_ms() const override { return world_.open_ms; }

 private:
  World& world_;
  double base_, effect_;
};

OpenInstance opener(World& world, double base) {
  return [&world, base]() -> Result<std::unique_ptr<Instance>> {
    return std::make_unique<FakeInstance>(world, base);
  };
}

CompareOptions options_for(World& world, double seconds) {
  CompareOptions options;
  options.seconds = seconds;
  options.seed = world.random() | 1;
  options.control.clock_ns = [&world] { return world.now_ns; };
  options.rest = [] {};
  options.proc_root = "/nonexistent";
  return options;
}

Comparison simulate(World& world, double a, double b, double seconds) {
  Result<Comparison> result =
      compare(opener(world, a), opener(world, b), options_for(world, seconds));
  EXPECT_TRUE(result);
  return *result;
}

bool wrong(Verdict v) { return v == Verdict::kFaster || v == Verdict::kSlower; }

TEST(MeanInterval, MatchesTheFormulaAtKnownPoints) {
  EXPECT_TRUE(std::isinf(mean_interval(std::vector<double>{1, 2}, 0.01).hi));
  // 100 values with mean 0 and sd 1: t = 4.16 at alpha 1 %.
  std::vector<double> x;
  for (int i = 0; i < 100; ++i) x.push_back(i % 2 ? 1 : -1);
  const double sd = standard_deviation(x);
  EXPECT_NEAR(mean_interval(x, 0.01).hi * 10 / sd, 4.16, 0.02);
  EXPECT_NEAR(mean_interval(x, 0.01).lo, -mean_interval(x, 0.01).hi, 1e-12);
}

TEST(MeanInterval, ForeseesHowManyValuesDecide) {
  std::vector<double> values;  // mean 0.004
  for (int i = 0; i < 10; ++i) values.insert(values.end(), {0.05, -0.042, 0.06, -0.052});
  const auto n = values_to_decide(values, 0.01, 0.001, 1'000'000);
  ASSERT_TRUE(n);
  auto interval_of = [&](int64_t count) {
    std::vector<double> more;
    for (int64_t i = 0; i < count; ++i) more.push_back(values[static_cast<size_t>(i % 4)]);
    return mean_interval(more, 0.01);
  };
  EXPECT_GT(interval_of(*n + *n / 10 + 4).lo, 0);
  EXPECT_LT(interval_of(*n - *n / 10 - 4).lo, 0);
  EXPECT_FALSE(values_to_decide(values, 0.01, 0.001, *n - 1));
  // Around 0 it is the margin that decides.
  values = {0.01, -0.01, 0.01, -0.01};
  EXPECT_TRUE(values_to_decide(values, 0.01, 0.01, 1'000'000));
  EXPECT_FALSE(values_to_decide({values.data(), 3}, 0.01, 0.01, 1'000'000));
}

TEST(MeanInterval, ErrorRateHoldsUnderContinuousLooking) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 1);
  int missed = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> x;
    for (int n = 0; n < 200; ++n) {
      x.push_back(noise(random));
      const Interval interval = mean_interval(x, 0.05);
      if (interval.lo > 0 || interval.hi < 0) {
        ++missed;
        break;
      }
    }
  }
  EXPECT_LE(missed, 50);  // 5 % at any time; by 200 values about half of it is used up
  EXPECT_GE(missed, 5);   // and not absurdly wide either
}

struct Null {
  const char* name;
  void (*set)(World&);
};
class AgainstItself : public ::testing::TestWithParam<Null> {};

TEST_P(AgainstItself, FalseAlarmsStayBelowAlpha) {
  int alarms = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    World world(seed);
    GetParam().set(world);
    alarms += wrong(simulate(world, 1, 1, 4).verdict);
  }
  RecordProperty("alarms", alarms);
  EXPECT_LE(alarms, 6);  // 1 % of 300 is 3, and two standard errors
}

INSTANTIATE_TEST_SUITE_P(Worlds, AgainstItself,
                         ::testing::Values(Null{"plain", [](World&) {}},
                                           Null{"drift", [](World& w) { w.drift_per_s = 0.05; }},
                                           Null{"alternating", [](World& w) { w.odd_bias = 0.1; }},
                                           Null{"instances",
                                                [](World& w) { w.instance_effect = 0.1; }},
                                           Null{"bursts", [](World& w) { w.bursts = 0.2; }},
                                           Null{"few_rounds", [](World& w) { w.open_ms = 200; }},
                                           Null{"outliers", [](World& w) { w.outliers = 0.2; }}),
                         [](const auto& info) { return info.param.name; });

struct Effect {
  double factor, seconds;
  int least;  // of 60
};
class Planted : public ::testing::TestWithParam<Effect> {};

TEST_P(Planted, IsFound) {
  const Effect effect = GetParam();
  int found = 0, inside = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    World world(seed);
    world.bursts = 0.1;
    world.drift_per_s = 0.002;
    const Comparison c = simulate(world, effect.factor, 1, effect.seconds);
    found += c.verdict == Verdict::kFaster;
    EXPECT_NE(c.verdict, Verdict::kSlower);
    inside += c.ci.lo <= effect.factor && effect.factor <= c.ci.hi;
  }
  RecordProperty("found", found);
  RecordProperty("inside", inside);
  EXPECT_GE(found, effect.least);
  EXPECT_GE(inside, 58);
}

INSTANTIATE_TEST_SUITE_P(Effects, Planted,
                         ::testing::Values(Effect{1.01, 120, 54}, Effect{1.03, 20, 57},
                                           Effect{1.05, 20, 59}, Effect{1.10, 5, 59}));

TEST(Compare, SlowerIsSaidOfTheOtherSide) {
  World world(5);
  const Comparison c = simulate(world, 1, 1.2, 10);
  EXPECT_EQ(c.verdict, Verdict::kSlower);
  EXPECT_NEAR(c.speedup, 1 / 1.2, 0.02);
  EXPECT_LT(c.ci.hi, 1);
  EXPECT_LT(c.seconds, 5);  // clear early (simulated seconds)
  EXPECT_NEAR(c.b.p50_ms / c.a.p50_ms, 1.2, 0.05);
  EXPECT_EQ(c.a.load_ms, 2);
}

TEST(Compare, SameWhenTheIntervalIsInsideTheMargin) {
  World world(6);
  world.instance_effect = 0.01;
  EXPECT_EQ(simulate(world, 1, 1, 60).verdict, Verdict::kSame);
}

TEST(Compare, TooLittleTimeIsUnsure) {
  World world(7);
  world.open_ms = 5000;
  const Comparison c = simulate(world, 1, 2, 30);
  EXPECT_EQ(c.verdict, Verdict::kUnsure);
  EXPECT_LE(c.seconds, 45);
  EXPECT_NE(c.why.find("too few"), std::string::npos) << c.why;
}

TEST(Compare, AnUndecidedOneCanBeGoneOnWith) {
  World world(21);
  const Comparison first = simulate(world, 1.015, 1, 1);
  ASSERT_EQ(first.verdict, Verdict::kUnsure) << first.why;
  ASSERT_TRUE(first.more_seconds) << first.why;
  EXPECT_NE(first.why.find("--seconds"), std::string::npos) << first.why;
  CompareOptions options = options_for(world, 120);
  options.so_far = &first;
  Result<Comparison> c = compare(opener(world, 1.015), opener(world, 1), options);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->verdict, Verdict::kFaster) << c->why;
  EXPECT_FALSE(c->more_seconds);
  EXPECT_GT(c->rounds, first.rounds);
  EXPECT_GT(c->seconds, first.seconds);
  EXPECT_GT(c->a.n, first.a.n);
  EXPECT_TRUE(std::equal(first.log_ratios.begin(), first.log_ratios.end(), c->log_ratios.begin()));
}

TEST(Compare, GoingOnKeepsWhatThereIsWhenInterrupted) {
  World world(22);
  const Comparison first = simulate(world, 1.015, 1, 1);
  std::atomic<bool> stop{false};
  CompareOptions options = options_for(world, 30);
  options.so_far = &first;
  options.control.stop = &stop;
  options.control.progress = [&](const Progress&) { stop = true; };
  Result<Comparison> c = compare(opener(world, 1.015), opener(world, 1), options);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->rounds, first.rounds);
  EXPECT_DOUBLE_EQ(c->speedup, first.speedup);
}

TEST(Compare, KeepsToItsTime) {
  for (double run_ms : {0.01, 1.0, 100.0}) {
    World world(8);
    const Comparison c = simulate(world, run_ms, run_ms, 10);
    EXPECT_LE(c.seconds, 10.5) << run_ms;
  }
}

TEST(Compare, RoundsShrinkOnAMachineThatGotBusy) {
  World world(12);
  CompareOptions options = options_for(world, 30);
  int64_t rests = 0;
  // Nothing during the calibration, which has no bursts; then every burst begins with a stall.
  options.rest = [&] {
    ++rests;
    world.now_ns += 300'000'000;
  };
  Result<Comparison> c = compare(opener(world, 1.2), opener(world, 1), options);
  ASSERT_TRUE(c);
  EXPECT_GT(rests, 0);
  EXPECT_GE(c->rounds, 15);
  EXPECT_EQ(c->verdict, Verdict::kFaster);
}

TEST(Compare, InterruptedKeepsWholeRounds) {
  World world(9);
  std::atomic<bool> stop{false};
  CompareOptions options = options_for(world, 30);
  options.control.stop = &stop;
  options.control.progress = [&](const Progress& p) { stop = p.seconds > 1; };
  Result<Comparison> c = compare(opener(world, 1), opener(world, 1), options);
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->interrupted);
  EXPECT_GT(c->rounds, 0);
  EXPECT_LT(c->seconds, 2);
  c = compare(opener(world, 1), opener(world, 1), options);
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Code::kCancelled);
}

TEST(Compare, ErrorsOfOpeningComeThrough) {
  World world(10);
  OpenInstance broken = []() -> Result<std::unique_ptr<Instance>> {
    return fail(Code::kInvalidModel, "m.onnx: not a model");
  };
  Result<Comparison> c = compare(opener(world, 1), broken, options_for(world, 1));
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().code, Code::kInvalidModel);
}

TEST(Compare, ShapesInTurnAreHeldAgainstEachOther) {
  // Five lengths in turn, the longest 16 times the shortest; B is 10 % faster on each.
  class Ragged : public FakeInstance {
   public:
    using FakeInstance::FakeInstance;
    Result<double> run_once_ms() override {
      HASTEN_TRY(const double ms, FakeInstance::run_once_ms());
      last_ = static_cast<int>(next_++ % 5);
      return ms * (1 << last_);
    }
    int shape_group() const override { return last_; }
    int64_t rotation() const override { return 5; }
    int64_t next_ = 0;
    int last_ = 0;
  };
  World world(11);
  auto open = [&](double base) -> OpenInstance {
    return [&world, base]() -> Result<std::unique_ptr<Instance>> {
      return std::make_unique<Ragged>(world, base);
    };
  };
  Result<Comparison> c = compare(open(1.1), open(1), options_for(world, 20));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->verdict, Verdict::kFaster);
  EXPECT_NEAR(c->speedup, 1.1, 0.02);
}

TEST(Compare, Text) {
  Comparison c;
  c.a = summarize({2, 2, 2});
  c.b = summarize({1, 1, 1});
  c.speedup = 2;
  c.ci = {1.9, 2.1};
  c.rounds = 12;
  c.seconds = 3.21;
  c.verdict = Verdict::kFaster;
  c.why = "because";
  c.outputs.samples = 4;
  c.outputs.max_abs = 0.5;
  c.outputs.max_rel = 0.001;
  c.outputs.cosine = 1;
  c.outputs.top1_agreement = 0.75;
  EXPECT_EQ(text(c),
            "A  p50 2 ms  p90 -  p99 -  mean 2  cold 0  load 0  n 3\n"
            "B  p50 1 ms  p90 -  p99 -  mean 1  cold 0  load 0  n 3\n"
            "speedup 2.0000 [1.9000, 2.1000] at 99 %, 12 rounds, 3.2 s: B is faster\n"
            "  because\n"
            "outputs of 4 samples: max abs 0.5, max rel 0.001, cosine 1.000000, top-1 75.00 %\n");
}

TEST(Idle, ReturnsWhenNobodySpins) { EXPECT_TRUE(wait_until_idle(1000)); }

}  // namespace
}  // namespace hasten
