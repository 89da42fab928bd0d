// The lists of bench/ops: every kernel answers right at the sizes of real models.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run_binary.h"

namespace hasten {
namespace {

std::vector<std::string> lists() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(HASTEN_SOURCE_DIR "/bench/ops"))
    files.push_back(entry.path().stem());
  std::sort(files.begin(), files.end());
  return files;
}

class ProblemLists : public testing::TestWithParam<std::string> {};

TEST_P(ProblemLists, AreRight) {
  const test::Outcome o =
      test::hasten_with("bench --json --check --threads 2 --problems " +
                        std::string(HASTEN_SOURCE_DIR "/bench/ops/") + GetParam() + ".txt");
  ASSERT_EQ(o.code, 0) << o.err;
  for (const auto& problem : o.json()["problems"])
    EXPECT_EQ(problem["reference"], false) << problem["problem"] << " has no kernel";
}

INSTANTIATE_TEST_SUITE_P(BenchOps, ProblemLists, testing::ValuesIn(lists()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace hasten
