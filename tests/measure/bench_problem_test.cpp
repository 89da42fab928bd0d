#include "measure/bench_problem.h"

#include <gtest/gtest.h>

#include <atomic>

namespace hasten::test {
namespace {

class ProblemBenchTest : public testing::Test {
 protected:
  Result<ProblemResult> run(const std::string& line, ProblemOptions options = {}) {
    auto problems = parse_problems(line, "list.txt");
    if (!problems) return fail(std::move(problems.error()));
    return ProblemBench(*context_, std::move(options)).run(problems->at(0));
  }
  ProblemResult checked(const std::string& line, ProblemOptions options = {}) {
    options.check_only = true;
    auto result = run(line, std::move(options));
    if (!result) {
      ADD_FAILURE() << line << ": " << result.error().message;
      return {};
    }
    return std::move(*result);
  }
  std::unique_ptr<Context> context_ = *Context::make();
};

TEST_F(ProblemBenchTest, TheRunTimesOwnKernelsAnswerRight) {
  const std::pair<const char*, const char*> lines[] = {
      {"MatMul 5x33 w:33x17", "gemm_f32"},
      {"Conv 1x20x9x9 w:24x20x3x3 w:24 pads=[1,1,1,1] then=Relu math=exact",
       "conv_blocked_blocked_f32"},
      {"Conv 1x32x14x14 w:32x32x3x3 pads=[1,1,1,1]", "conv_winograd_f32"},
      {"Conv 1x24x9x9 w:24x1x5x5 group=24 strides=[2,2] pads=[2,2,2,2] then=Silu",
       "conv_depthwise_rows_f32"},
      {"MaxPool 1x16x9x9 kernel_shape=[3,3] layout=nchw16c", "max_pool_blocked_f32"},
      {"Softmax 4x100 axis=-1", "softmax_f32"},
      {"hasten::Reorder 1x20x3x3 to=nchw16c", "reorder_to_blocked_f32"},
      {"hasten::Reorder 1x20x3x3 to=plain", "reorder_to_plain_f32"},
      {"MatMulInteger u8:3x70 w:i8:70x20 u8:=128", "gemm_s32"},
      {"LSTM 3x2x5 w:1x32x5 w:1x32x8 w:1x64 hidden_size=8 outputs=3", "lstm_step_f32"},
  };
  for (const auto& [line, kernel] : lines) {
    const ProblemResult r = checked(line);
    EXPECT_TRUE(r.ok) << r.reason;
    EXPECT_EQ(r.kernel, kernel) << line;
    EXPECT_FALSE(r.reference) << line;
    EXPECT_EQ(r.runs, 0);
  }
  EXPECT_EQ(checked("MatMul 5x33 w:33x17").flops, 2.0 * 5 * 33 * 17);
}

TEST_F(ProblemBenchTest, AnErrorBeyondTheToleranceIsSaidInOneLine) {
  const ProblemResult good = checked("Softmax 4x100 axis=-1");
  EXPECT_TRUE(good.ok);
  EXPECT_EQ(good.reason, "");
  ASSERT_GT(good.max_err, 0) << "its sums are in another order than the reference's";
  const ProblemResult bad = checked("Softmax 4x100 axis=-1 tolerance=0");
  EXPECT_FALSE(bad.ok);
  EXPECT_EQ(bad.max_err, good.max_err);
  EXPECT_TRUE(bad.reason.starts_with("list.txt:1: Softmax 4x100 axis=-1 tolerance=0: softmax_f32"))
      << bad.reason;
  EXPECT_NE(bad.reason.find("allowed 0"), std::string::npos) << bad.reason;
}

/// Makes every Relu a HardSwish.
Result<int> wrong_rewrite(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node& node : graph.main.nodes) {
    if (node.op != "Relu") continue;
    node.op = "HardSwish";
    node.def = find_op("", "HardSwish", kLastOpset);
    ++changes;
  }
  return changes;
}

TEST_F(ProblemBenchTest, AWrongAnswerIsFound) {
  const Pass wrong[] = {{"wrong", "Relu -> HardSwish", wrong_rewrite}};
  ProblemOptions options;
  options.passes = wrong;
  const ProblemResult r = checked("MatMul 5x33 w:33x17 then=Relu", options);
  EXPECT_EQ(r.kernel, "gemm_f32 + hard_swish_f32");
  EXPECT_FALSE(r.ok);
  EXPECT_GT(r.max_err, 0.1);
  EXPECT_TRUE(checked("MatMul 5x33 w:33x17", options).ok) << "the others stay right";
}

TEST_F(ProblemBenchTest, ExactMathIsNoWinograd) {
  const std::string line = "Conv 1x32x14x14 w:32x32x3x3 pads=[1,1,1,1]";
  ProblemOptions options;
  options.exact_math = true;
  const ProblemResult r = checked(line, options);
  EXPECT_EQ(r.kernel, "conv_blocked_blocked_f32");
  EXPECT_LT(r.allowed, checked(line).allowed);
}

TEST_F(ProblemBenchTest, TimedWithItsPeaks) {
  ProblemOptions options;
  options.seconds = 0.001;
  options.threads = 2;
  const auto r = run("Conv 1x16x8x8 w:16x16x1x1", options);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_GE(r->runs, 7);
  EXPECT_LE(r->min_ms, r->p50_ms);
  EXPECT_TRUE(r->cold_ms.has_value());
  EXPECT_EQ(r->flops, 2.0 * 16 * 16 * 64);
  EXPECT_EQ(r->bytes, 4.0 * (16 * 64 + 16 * 16 + 16 * 64)) << "reorders are not its own";
  ASSERT_TRUE(r->peak_pct && r->roof_pct);
  EXPECT_NEAR(*r->peak_pct, 100 * r->gflops / r->peak_gflops, 1e-6);
  EXPECT_FALSE(r->bound.empty());
}

TEST_F(ProblemBenchTest, WhatTakesNoStepIsRefused) {
  for (const char* line : {"Reshape 1x64 i64:=[8,8]", "Relu w:4x4"}) {
    const auto r = run(line);
    ASSERT_FALSE(r) << line;
    EXPECT_EQ(r.error().code, Code::kUnsupported) << r.error().message;
    EXPECT_TRUE(r.error().message.starts_with("list.txt:1: ")) << r.error().message;
  }
}

TEST_F(ProblemBenchTest, StopsWhenAsked) {
  const std::atomic<bool> stop{true};
  ProblemOptions options;
  options.control.stop = &stop;
  const auto r = run("MatMul 5x33 w:33x17", options);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, Code::kCancelled);
}

TEST(DefaultTolerance, DependsOnTheKernel) {
  EXPECT_EQ(default_tolerance("gemm_s32", true), 0);
  EXPECT_GT(default_tolerance("conv_winograd_f32", false), default_tolerance("gemm_f32", false));
}

}  // namespace
}  // namespace hasten::test
