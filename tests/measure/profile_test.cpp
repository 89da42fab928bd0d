#include "measure/profile.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hasten {
namespace {

Machine machine() {
  Machine m;
  m.threads = 2;
  m.why = "2: two cores";
  m.cpu.l2_bytes = 512 << 10;
  m.cpu.l3_bytes = 32 << 20;
  m.fp32 = {50, 100, ""};
  m.l2 = {100, 200, ""};
  m.l3 = {40, 60, ""};
  m.dram = {10, 20, ""};
  return m;
}

OpProfile op_of(double ms, double flops, double bytes) {
  OpProfile op;
  op.name = "x";
  op.op = "Conv";
  op.kernel = "conv_f32";
  op.ms = ms;
  op.flops = flops;
  op.bytes = bytes;
  return op;
}

StepInfo step(const char* name, const char* op, double flops, double bytes) {
  StepInfo info;
  info.name = name;
  info.op = op;
  info.kernel = std::string(op) + "_f32";
  info.flops = flops;
  info.bytes = bytes;
  return info;
}

/// Tells an observer of steps that take no time by the clock but say they do.
class FakeRunner : public Runner {
 public:
  Status bind(std::span<const TensorView>) override { return {}; }
  Status run(Observer* observer) override {
    ++runs;
    if (observer == nullptr || !visible) return {};
    observer->run_begin(0);
    int64_t t = 0;
    for (const auto& [info, ns] : script) {
      observer->step(*info, t, t + ns);
      t += ns;
    }
    observer->run_end(t);
    return {};
  }
  std::span<const TensorView> outputs() const override { return {}; }

  std::vector<std::pair<const StepInfo*, int64_t>> script;
  bool visible = true;
  int runs = 0;
};

TEST(StepCollector, TurnsOfALoopAddUp) {
  const StepInfo a = step("a", "Add", 10, 100), b = step("b", "Mul", 1, 2);
  StepCollector collector;
  for (int run = 0; run < 3; ++run) {
    collector.run_begin(0);
    collector.step(a, 0, 1'000'000);
    for (int turn = 0; turn < 4; ++turn) collector.step(b, 0, 500'000);
    EXPECT_EQ(collector.last_sum_ns(), 3'000'000);
    collector.run_end(0);
  }
  ASSERT_EQ(collector.steps().size(), 2u);
  EXPECT_EQ(collector.steps()[0].ms, (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(collector.steps()[1].ms, (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(collector.steps()[1].calls, 12);
}

TEST(StepCollector, TheSameStepForAnotherShapeIsOneStep) {
  const StepInfo small = step("a", "Add", 10, 100), large = step("a", "Add", 20, 200);
  StepCollector collector;
  for (const StepInfo* info : {&small, &large, &small}) {
    collector.run_begin(0);
    collector.step(*info, 0, 1'000'000);
    collector.run_end(0);
  }
  ASSERT_EQ(collector.steps().size(), 1u);
  EXPECT_EQ(collector.steps()[0].ms.size(), 3u);
}

TEST(Profile, PutsStepsTogether) {
  const StepInfo conv = step("conv1", "Conv", 2e6, 1e5), add = step("add1", "Add", 1e4, 1e5);
  FakeRunner runner;
  runner.script = {{&conv, 300'000}, {&add, 100'000}};
  const Machine m = machine();
  ProfileOptions options;
  options.runs = 400;
  options.machine = &m;
  const std::vector<InputSet> sets(2);
  Result<Profile> p = profile(runner, sets, options);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->runs, 400);
  ASSERT_EQ(p->ops.size(), 2u);
  EXPECT_EQ(p->ops[0].name, "conv1");
  EXPECT_EQ(p->ops[0].ms, 0.3);
  EXPECT_EQ(p->ops[0].share, 0.75);
  EXPECT_TRUE(p->ops[0].p99_ms);
  EXPECT_NEAR(p->ops[0].gflops, 2e6 / 0.3e-3 * 1e-9, 1e-9);
  EXPECT_NEAR(*p->ops[0].roof_ms, 2e6 / 50e9 * 1e3, 1e-9);
  EXPECT_EQ(p->ops[0].bound, "compute");
  EXPECT_EQ(p->ops[1].bound, "L2");
  EXPECT_GE(p->unattributed_ms, 0);
}

TEST(Profile, EngineWithoutStepsIsUnsupported) {
  FakeRunner runner;
  runner.visible = false;
  ProfileOptions options;
  options.runs = 3;
  Result<Profile> p = profile(runner, std::vector<InputSet>(1), options);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code, Code::kUnsupported);
  options.steps_needed = false;
  p = profile(runner, std::vector<InputSet>(1), options);
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->ops.empty());
  Profile b;
  b.wall_ms = 2;
  b.ops = {op_of(2, 80e6, 1e3)};
  const ProfileDiff d = diff(*p, b);
  EXPECT_NE(text(d).find("A's engine shows no steps"), std::string::npos) << text(d);
  EXPECT_FALSE(profile(runner, {}, options));
}

TEST(Roof, LevelIsTheOneTheBytesFitIn) {
  const Machine m = machine();
  OpProfile op = op_of(1, 0, 100e3);
  apply_roof(op, m, 1);
  EXPECT_EQ(op.bound, "L2");
  EXPECT_NEAR(*op.roof_ms, 100e3 / 100e9 * 1e3, 1e-12);
  op = op_of(1, 0, 10e6);
  apply_roof(op, m, 2);
  EXPECT_EQ(op.bound, "L3");
  EXPECT_NEAR(*op.roof_ms, 10e6 / 60e9 * 1e3, 1e-12);
  op = op_of(10, 0, 100e6);
  apply_roof(op, m, 1);
  EXPECT_EQ(op.bound, "DRAM");
  EXPECT_NEAR(*op.roof_pct, 100, 1e-9);
  op = op_of(0.01, 1000, 1000);
  apply_roof(op, m, 1);
  EXPECT_EQ(op.bound, "overhead");
}

TEST(Roof, TheArithmeticIsToldFromTheKernel) {
  EXPECT_EQ(compute_peak("gemm_f32"), &Machine::fp32);
  EXPECT_EQ(compute_peak("gemm_s32"), &Machine::int8) << "int8 products summed in 32 bits";
  EXPECT_EQ(compute_peak("lstm_step_s8"), &Machine::int8);
  EXPECT_EQ(compute_peak("gemm_bf16"), &Machine::bf16);
}

TEST(Roof, UnknownPeakNoRoof) {
  OpProfile op = op_of(1, 1e6, 1e3);
  op.kernel = "gemm_s8";
  apply_roof(op, machine(), 1);  // no int8 peak here
  EXPECT_FALSE(op.roof_pct);
  EXPECT_EQ(op.bound, "");
}

bool has(const std::vector<Finding>& findings, const char* cause) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& f) { return f.cause == cause; });
}

Profile profile_of(std::vector<OpProfile> ops) {
  const Machine m = machine();
  Profile p;
  for (OpProfile& op : ops) {
    apply_roof(op, m, 1);
    p.wall_ms += op.ms;
  }
  p.ops = std::move(ops);
  p.plain_wall_ms = p.first_ms = p.wall_ms;
  return p;
}

TEST(Findings, EachCauseAndTheBestFirst) {
  const Machine m = machine();
  OpProfile reference = op_of(50, 50e6, 1e3), slow = op_of(10, 50e6, 1e3), copy = op_of(5, 0, 1e5);
  reference.reference = true;
  reference.op = "LSTM";
  copy.op = "Transpose";
  OpProfile good = op_of(2, 80e6, 1e3);
  Profile p = profile_of({reference, slow, copy, good});
  p.threads = 4;
  p.first_ms = 1000;
  p.unattributed_ms = 10;
  const std::vector<Finding> findings = find_causes(p, &m);
  for (const char* cause : {"reference kernel", "slow kernel", "copies", "too many threads",
                            "first run", "between the ops"}) {
    EXPECT_TRUE(has(findings, cause)) << cause;
  }
  EXPECT_EQ(findings[0].cause, "reference kernel");
  EXPECT_EQ(findings[0].rank, 1);
  EXPECT_NEAR(*findings[0].expected_gain, (50 - 1 / 0.7) / p.wall_ms, 1e-9);
  for (const Finding& f : findings) {
    EXPECT_FALSE(f.do_next.empty());
    EXPECT_FALSE(f.where.empty());
  }
}

TEST(Findings, MemoryBoundAndTinyOps) {
  const Machine m = machine();
  Profile p = profile_of({op_of(10, 0, 80e6), op_of(10, 400e6, 1e3)});
  EXPECT_TRUE(has(find_causes(p, &m), "memory bound"));
  p = profile_of(std::vector<OpProfile>(20, op_of(0.005, 100, 100)));
  EXPECT_TRUE(has(find_causes(p, &m), "tiny ops"));
}

TEST(Findings, ASmallerTypeOnlyWhereOneRuns) {
  Machine m = machine();
  m.cpu.features.clear();
  const Profile p = profile_of({op_of(10, 0, 80e6), op_of(10, 400e6, 1e3)});
  for (const Finding& f : find_causes(p, &m)) {
    EXPECT_EQ(f.do_next.find("precision="), std::string::npos) << f.do_next;
  }
}

TEST(ProfileText, ColumnsAreAsWideAsTheirLongest) {
  Profile p = profile_of({op_of(10, 400e6, 1e3), op_of(10, 400e6, 1e3)});
  p.ops[0].kernel = "conv_blocked_blocked_f32_of_a_long_name";
  p.ops[0].name = "first";
  p.ops[1].name = "second";
  p.interrupted = true;
  const std::string out = text(p);
  const auto column = [&](const char* word) {
    const size_t at = out.find(word);
    return at - out.rfind('\n', at);
  };
  EXPECT_EQ(column("first\n"), column("second\n")) << out;
  EXPECT_EQ(column("first\n"), column("name\n")) << out;
  EXPECT_NE(out.find("\ninterrupted: "), std::string::npos) << out;
}

TEST(Findings, StallsThatNoMedianShows) {
  const Machine m = machine();
  Profile p = profile_of({op_of(10, 400e6, 1e3)});
  p.wall_ms = 30;
  const std::vector<Finding> findings = find_causes(p, &m);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].cause, "interruptions");
  EXPECT_NEAR(findings[0].share, 2.0 / 3, 1e-9);
}

TEST(Findings, AGoodProfileRaisesNone) {
  const Machine m = machine();
  EXPECT_TRUE(find_causes(profile_of({op_of(10, 400e6, 1e3), op_of(1, 45e6, 1e3)}), &m).empty());
}

TEST(ProfileDiff, LinesUpByOpType) {
  OpProfile add = op_of(1, 0, 1e3);
  add.op = "Add";
  const Profile a = profile_of({op_of(5, 1e6, 1e3), op_of(5, 1e6, 1e3), add});
  const Profile b = profile_of({op_of(2, 1e6, 1e3), op_of(2, 1e6, 1e3)});
  const ProfileDiff d = diff(a, b);
  ASSERT_EQ(d.ops.size(), 3u);
  EXPECT_EQ(d.ops[0].op, "Conv");
  EXPECT_EQ(d.ops[0].a_ms, 10);
  EXPECT_EQ(d.ops[0].b_ms, 4);
  EXPECT_EQ(d.ops[0].a_count, 2);
  EXPECT_EQ(d.ops[1].op, "Add");
  EXPECT_EQ(d.ops[1].b_count, 0);
  EXPECT_TRUE(
      text(d).starts_with("a run takes A 11.0000 ms, B 4.0000 ms: -7.0000 ms, 0.36 x as long\n"))
      << text(d);
}

TEST(ProfileText, SaysWhatWasMeasured) {
  Profile p = profile_of({op_of(2, 80e6, 1e3)});
  p.ops[0].share = 1;
  p.ops[0].gflops = 40;
  p.runs = 7;
  EXPECT_EQ(
      text(p),
      "wall 2.0000 ms (unobserved 2.0000), unattributed 0.0000 ms = 0.0 %, first run 2 ms, "
      "7 runs, 1 thread\n"
      "        ms  share  GFLOP/s    GB/s   roof  bound    op             kernel              "
      " name\n"
      "    2.0000 100.0 %     40.0     0.0   80 %  compute  Conv           conv_f32           "
      "  x\n");
}

}  // namespace
}  // namespace hasten
