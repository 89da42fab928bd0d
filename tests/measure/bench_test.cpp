#include "measure/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "base/clock.h"
#include "tests/base/recorded_tree.h"

namespace hasten {
namespace {

/// Runs that take simulated time on a clock of their own.
class Simulated : public Timed {
 public:
  explicit Simulated(std::function<double(int64_t run)> duration_ms)
      : duration_ms_(std::move(duration_ms)) {}
  Result<double> run_once_ms() override {
    const double ms = duration_ms_(runs_++);
    now_ns_ += static_cast<int64_t>(ms * 1e6);
    return ms;
  }
  int shape_group() const override {
    return shapes_ > 1 ? static_cast<int>((runs_ - 1) % shapes_) : 0;
  }

  BenchOptions options() {
    BenchOptions o;
    o.control.clock_ns = [this] { return now_ns_; };
    o.control.sleep_until_ns = [this](int64_t until) { now_ns_ = until + late_ns_; };
    return o;
  }

  int64_t now_ns_ = 0, runs_ = 0;
  int64_t late_ns_ = 0;  // how late timers ring
  int64_t shapes_ = 1;

 private:
  std::function<double(int64_t)> duration_ms_;
};

bool warns(const BenchResult& result, const std::string& what) {
  return std::any_of(result.warnings.begin(), result.warnings.end(),
                     [&](const Warning& w) { return w.what == what; });
}

TEST(Bench, WarmupIsLeftOutAndColdKeptApart) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(1, 0.01);
  Simulated model([&](int64_t run) { return noise(random) * (run < 5 ? 20 : 1); });
  BenchOptions options = model.options();
  options.runs = 100;
  options.load_ms = 12;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->n, 100);
  EXPECT_NEAR(result->cold_ms, 20, 1);
  EXPECT_EQ(result->warmup_runs, 4);
  EXPECT_NEAR(result->p50_ms, 1, 0.01);
  EXPECT_LT(result->max_ms, 2);
  EXPECT_TRUE(result->p90_ms);
  EXPECT_FALSE(result->p99_ms);
  EXPECT_EQ(result->load_ms, 12);
  EXPECT_TRUE(result->stationary);
}

TEST(Bench, EachShapeWarmsUpForItself) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(1, 0.01);
  Simulated model([&](int64_t run) {
    const double base = 1 + static_cast<double>(run % 3);  // three shapes, three speeds
    return base * noise(random) * (run < 15 ? 20 : 1);     // five slow runs each
  });
  model.shapes_ = 3;
  BenchOptions options = model.options();
  options.runs = 300;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->n, 300);
  EXPECT_EQ(result->warmup_runs, 14);
  EXPECT_LT(result->max_ms, 4);
  EXPECT_FALSE(warns(*result, "bimodal"));
}

TEST(Bench, AtLeastSevenRunsHoweverSlow) {
  Simulated model([](int64_t) { return 5000.0; });
  BenchOptions options = model.options();
  options.seconds = 1;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->n, 7);
  EXPECT_EQ(result->p50_ms, 5000);
  EXPECT_FALSE(result->p90_ms);
  EXPECT_TRUE(warns(*result, "few samples"));
}

TEST(Bench, SecondsBound) {
  Simulated model([](int64_t) { return 10.0; });
  BenchOptions options = model.options();
  options.seconds = 5;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->n, 499);
  EXPECT_TRUE(result->p99_ms);
  EXPECT_NEAR(result->seconds, 5, 1e-6);
}

TEST(Bench, ARateIsKeptAndATimerThatRingsLateCountsNothing) {
  Simulated model([](int64_t) { return 2.0; });
  model.late_ns_ = 50'000;
  BenchOptions options = model.options();
  options.runs = 100;
  options.rate = 100;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->n, 100);
  EXPECT_NEAR(result->seconds, 0.002 + 0.99 + 0.00205, 1e-9);
  EXPECT_EQ(result->max_ms, 2);
  EXPECT_EQ(result->delayed_runs, 0);
  EXPECT_EQ(result->rate, 100);
  EXPECT_FALSE(warns(*result, "behind"));
}

TEST(Bench, WaitingForTheRunBeforeIsPartOfTheLatency) {
  // At 100 a second a run of 25 ms (the 50th) makes the next ones wait for 15 and 7 ms.
  Simulated model([](int64_t run) { return run == 50 ? 25.0 : 2.0; });
  BenchOptions options = model.options();
  options.runs = 100;
  options.rate = 100;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->n, 100);
  EXPECT_EQ(result->delayed_runs, 2);
  const std::vector<double>& ms = result->samples_ms;
  EXPECT_EQ(ms[49], 25);
  EXPECT_NEAR(ms[50], 17, 1e-9);
  EXPECT_NEAR(ms[51], 9, 1e-9);
  EXPECT_EQ(ms[52], 2);
}

TEST(Bench, ARateThatIsTooHighIsSaid) {
  Simulated model([](int64_t) { return 20.0; });
  BenchOptions options = model.options();
  options.runs = 50;
  options.rate = 100;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(warns(*result, "behind"));
  EXPECT_NEAR(result->max_ms - result->min_ms, 490, 20) << "ever longer: the load doesn't wait";
}

TEST(Bench, CpuTimeIsOfTheRunsAlone) {
  // Burns 2 ms of CPU a run; the other thread's time counts too.
  class Burning : public Timed {
    Result<double> run_once_ms() override {
      std::thread([] {
        for (const int64_t end = thread_cpu_ns() + 1'000'000; thread_cpu_ns() < end;) {
        }
      }).join();
      for (const int64_t end = thread_cpu_ns() + 1'000'000; thread_cpu_ns() < end;) {
      }
      return 2.0;
    }
  } burning;
  BenchOptions options;
  options.runs = 30;
  options.rate = 100;
  Result<BenchResult> result = bench(burning, options);
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->cpu_ms);
  EXPECT_GE(*result->cpu_ms, 1.9);
}

TEST(Bench, InterruptedReturnsWhatThereIs) {
  std::atomic<bool> stop{false};
  Simulated model([&](int64_t run) {
    if (run == 20) stop = true;
    return 1.0;
  });
  BenchOptions options = model.options();
  options.runs = 1000;
  options.control.stop = &stop;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->n, 20);
  Result<BenchResult> nothing = bench(model, options);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, Code::kCancelled);
}

TEST(Bench, InterruptedInTheFirstRunStillHasAMedian) {
  std::atomic<bool> stop{false};
  Simulated model([&](int64_t) {
    stop = true;
    return 3.0;
  });
  BenchOptions options = model.options();
  options.control.stop = &stop;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->p50_ms, 3);
}

TEST(Bench, ErrorsOfRunsComeThrough) {
  class Broken : public Timed {
    Result<double> run_once_ms() override { return fail(Code::kOutOfMemory, "node 'x': no room"); }
  } broken;
  Result<BenchResult> result = bench(broken, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kOutOfMemory);
}

TEST(Bench, TwoRegimesAndAChangeAreSaid) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(1, 0.01);
  Simulated two([&](int64_t) { return noise(random) * (random() % 3 == 0 ? 1.3 : 1); });
  BenchOptions options = two.options();
  options.runs = 300;
  EXPECT_TRUE(warns(*bench(two, options), "bimodal"));

  Simulated change([&](int64_t run) { return noise(random) * (run < 230 ? 1 : 1.2); });
  options = change.options();
  options.runs = 300;
  Result<BenchResult> result = bench(change, options);
  EXPECT_TRUE(warns(*result, "not stationary"));
  EXPECT_FALSE(result->stationary);
}

TEST(Bench, ProgressRuns) {
  Simulated model([](int64_t) { return 10.0; });
  BenchOptions options = model.options();
  options.seconds = 2;
  double last = -1;
  options.control.progress = [&](const Progress& p) {
    EXPECT_GE(p.fraction, last);
    EXPECT_LE(p.fraction, 1);
    last = p.fraction;
  };
  ASSERT_TRUE(bench(model, options));
  EXPECT_GT(last, 0.8);
}

using Proc = test::RecordedTree;

TEST_F(Proc, CountersAreRead) {
  put("/proc/stat",
      "cpu  100 20 30 4000 50 6 7 80 9 0\ncpu0 50 10 15 2000 25 3 3 40 4 0\n"
      "cpu1 50 10 15 2000 25 3 4 40 5 0\nintr 1\n");
  put("/proc/loadavg", "1.50 0.40 0.20 2/88 5998\n");
  put("/proc/self/task/1/schedstat", "1000 200 3\n");
  put("/proc/self/task/2/schedstat", "1000 300 3\n");
  put("/proc/self/cgroup", "0::/\n");
  put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  put("/sys/fs/cgroup/cpu.stat", "nr_periods 9\nnr_throttled 5\nthrottled_usec 700\n");
  const SystemSample sample = read_system(root_);
  EXPECT_TRUE(sample.known);
  EXPECT_EQ(sample.cpus, 2);
  EXPECT_EQ(sample.busy_ns, 163 * 10'000'000ll);
  EXPECT_EQ(sample.steal_ns, 80 * 10'000'000ll);
  EXPECT_EQ(sample.queued_ns, 500);
  EXPECT_EQ(sample.throttled_count, 5);
  EXPECT_EQ(sample.throttled_ns, 700'000);
  EXPECT_EQ(sample.load_average, 1.5);
}

TEST_F(Proc, ThrottlingOfTheMeasurementIsCounted) {
  Simulated model([&](int64_t run) {
    if (run == 5) put("/sys/fs/cgroup/cpu.stat", "nr_periods 19\nnr_throttled 8\n");
    return 1.0;
  });
  BenchOptions options = model.options();
  options.runs = 10;
  options.proc_root = root_;
  EXPECT_FALSE(bench(model, options)->nr_throttled) << "no cgroup says";
  put("/proc/self/cgroup", "0::/\n");
  put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  put("/sys/fs/cgroup/cpu.stat", "nr_periods 9\nnr_throttled 5\n");
  model.runs_ = 0;
  Result<BenchResult> result = bench(model, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->nr_throttled, 3);
  EXPECT_TRUE(warns(*result, "throttled"));
}

TEST_F(Proc, NothingReadableNothingSaid) {
  const SystemSample sample = read_system(root_);
  EXPECT_FALSE(sample.known);
  SystemSample later = sample;
  later.wall_ns += 1'000'000'000;
  EXPECT_TRUE(disturbances(sample, later).empty());
}

TEST(Disturbances, EachCauseIsNamedAndQuietIsQuiet) {
  SystemSample before;
  before.known = true;
  before.cpus = 2;
  SystemSample after = before;
  after.wall_ns = 1'000'000'000;
  after.own_cpu_ns = 1'000'000'000;
  after.busy_ns = 1'020'000'000;  // two ticks of somebody else
  after.queued_ns = 5'000'000;
  EXPECT_TRUE(disturbances(before, after).empty());

  after.throttled_count = 3;
  after.throttled_ns = 40'000'000;
  after.steal_ns = 100'000'000;
  after.busy_ns = 1'500'000'000;
  after.queued_ns = 100'000'000;
  std::vector<std::string> names;
  for (const Warning& warning : disturbances(before, after)) {
    names.push_back(warning.what);
    EXPECT_FALSE(warning.why.empty());
    EXPECT_FALSE(warning.next.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"throttled", "stolen time", "other load",
                                             "waited for a CPU"}));
}

TEST(Summary, QuantilesOnlyFromEnoughSamples) {
  EXPECT_FALSE(summarize(std::vector<double>(35, 1.0)).p90_ms);
  EXPECT_TRUE(summarize(std::vector<double>(36, 1.0)).p90_ms);
  EXPECT_FALSE(summarize(std::vector<double>(367, 1.0)).p99_ms);
  EXPECT_TRUE(summarize(std::vector<double>(368, 1.0)).p99_ms);
  EXPECT_EQ(summarize({2.0}).p50_ms, 2);
  EXPECT_EQ(summarize({}).n, 0);
}

}  // namespace
}  // namespace hasten
