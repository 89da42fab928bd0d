// hasten bench --problems, through the binary.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/run_binary.h"

namespace hasten {
namespace {

using nlohmann::json;
using test::hasten_with;
using test::Outcome;
using test::TempDir;

class BenchProblems : public testing::Test {
 protected:
  std::string list(const std::string& text) { return dir_.write("list.txt", text); }
  TempDir dir_;
};

TEST_F(BenchProblems, ChecksAndTimesEachLine) {
  const std::string file =
      list("# two\nMatMul 8x64 w:64x64\nConv 1x32x14x14 w:32x32x3x3 pads=[1,1,1,1] then=Relu\n");
  const Outcome o = hasten_with("bench --json --seconds 0.001 --problems " + file);
  ASSERT_EQ(o.code, 0) << o.err;
  const json all = o.json();
  EXPECT_EQ(all["failed"], 0);
  EXPECT_EQ(all["threads"], 1);
  EXPECT_EQ(all["interrupted"], false);
  ASSERT_EQ(all["problems"].size(), 2u) << o.out;
  const json& first = all["problems"][0];
  EXPECT_EQ(first["file"], file);
  EXPECT_EQ(first["line"], 2);
  EXPECT_EQ(first["problem"], "MatMul 8x64 w:64x64");
  EXPECT_EQ(first["kernel"], "gemm_f32");
  EXPECT_EQ(first["ok"], true);
  EXPECT_EQ(first["flops"], 2 * 8 * 64 * 64);
  for (const char* field : {"min_ms", "p50_ms", "cold_ms", "gflops", "gbps", "peak_gflops",
                            "peak_pct", "roof_pct", "max_err", "allowed", "runs"}) {
    EXPECT_TRUE(first[field].is_number()) << field << "\n" << o.out;
  }
  EXPECT_EQ(all["problems"][1]["kernel"], "conv_winograd_f32");
}

TEST_F(BenchProblems, TextHasALineForEach) {
  const std::string file = list("MatMul 8x64 w:64x64\nRelu 9\n");
  const Outcome o = hasten_with("bench --seconds 0.001 --filter MatMul --problems " + file);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("MatMul 8x64 w:64x64"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("of peak"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("all answers right, 1 problem"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("Relu"), std::string::npos) << "filtered out";
}

TEST_F(BenchProblems, AWrongAnswerExitsWith1AndOneLine) {
  const std::string file = list("Softmax 4x100 axis=-1 tolerance=0\nSoftmax 4x100 axis=-1\n");
  const Outcome o = hasten_with("bench --json --check --problems " + file);
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_NE(o.err.find("list.txt:1: Softmax 4x100 axis=-1 tolerance=0: softmax_f32 is off by"),
            std::string::npos)
      << o.err;
  const json all = o.json();
  EXPECT_EQ(all["failed"], 1);
  EXPECT_EQ(all["problems"][0]["ok"], false);
  EXPECT_EQ(all["problems"][1]["ok"], true) << "the others are still checked";
  EXPECT_TRUE(all["problems"][1]["min_ms"].is_null()) << "--check times nothing";
}

TEST_F(BenchProblems, AWrongLineStopsBeforeAnythingRuns) {
  const std::string good = list("MatMul 8x64 w:64x64\n");
  for (const auto& [line, code] : {std::pair<std::string, int>{"MatMul 8x64 w:65x64", 3},
                                   {"MatMul 8xx64", 3},
                                   {"NoSuchOp 4", 4},
                                   {"# nothing", 3}}) {
    const std::string bad = dir_.write("bad.txt", line + "\n");
    const Outcome o = hasten_with("bench --check --problems " + good + " " + bad);
    EXPECT_EQ(o.code, code) << line << "\n" << o.err;
    EXPECT_EQ(o.out, "") << line;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_TRUE(o.err.starts_with("hasten: " + bad)) << o.err;
  }
  EXPECT_EQ(hasten_with("bench --problems " + dir_.file("none.txt")).code, 5);
}

TEST_F(BenchProblems, UsageErrors) {
  const std::string file = list("Relu 9\n");
  for (const std::string& arguments :
       {std::string("--problems"), "--problems " + file + " --filter nothing_like_it",
        "--problems " + file + " --runs 3", "m.onnx --problems " + file,
        "--problems " + file + " --threads 0", "--problems " + file + " --math some",
        std::string("--check"), std::string("m.onnx --threads 2")}) {
    const Outcome o = hasten_with("bench " + arguments);
    EXPECT_EQ(o.code, 2) << arguments << "\n" << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}

}  // namespace
}  // namespace hasten
