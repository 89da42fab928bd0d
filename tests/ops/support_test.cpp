#include "tests/ops/support_page.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hasten::test {
namespace {

// The counts of node tests are the node tests' own to check: they need more than this binary.
TEST(Support, PageIsUpToDate) {
  const auto before = read_file(support_path());
  ASSERT_TRUE(before) << before.error().message;
  const std::string expected = support_page(counts_on(*before));
  if (std::getenv("HASTEN_UPDATE") != nullptr) {
    ASSERT_TRUE(write_file_atomic(support_path(), expected));
  }
  const auto found = read_file(support_path());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, expected) << "run the test again with HASTEN_UPDATE=1 and commit it";
}

TEST(Support, CountsAreReadAsTheyAreWritten) {
  NodeTestCounts counts;
  counts[{"", "Abs"}] = {3, 0};
  counts[{"", "Add"}] = {12, 1};
  const NodeTestCounts read = counts_on(support_page(counts));
  EXPECT_EQ(read.at({"", "Abs"}), counts.at({"", "Abs"}));
  EXPECT_EQ(read.at({"", "Add"}), counts.at({"", "Add"}));
}

}  // namespace
}  // namespace hasten::test
