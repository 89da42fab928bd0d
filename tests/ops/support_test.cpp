// docs/support.md is made from the table of contents of operators; HASTEN_UPDATE=1 writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/mapped_file.h"
#include "engine/ops/op.h"

namespace hasten {
namespace {

struct Row {
  int since = kLastOpset, until = 0;
  bool kernel = false, reference = false;
};

std::string support_text() {
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (const OpDef* def : all_ops()) {
    Row& row = rows[{def->domain, def->name}];
    row.since = std::min(row.since, def->since);
    row.until = std::max(row.until, def->until);
    row.kernel = row.kernel || def->lower != nullptr;
    row.reference = row.reference || def->reference != nullptr;
  }
  std::string text =
      "# Supported operators\n\n"
      "Generated from `src/engine/ops/ops.inc` (HASTEN_UPDATE=1, the test `ops`); don't edit. "
      "Opsets "
      "are those of\nthe operator's domain that are accepted. \"kernel\": some dtypes and layouts "
      "run "
      "on a kernel of every tier; all\nothers run on the reference, which `profile` reports. "
      "float8, int4 and complex are refused by name. Operators of\nthe domain `hasten` are made by "
      "passes.\n\n| domain | operator | opsets | runs on |\n|---|---|---|---|\n";
  for (const auto& [name, row] : rows) {
    text += fmt::format("| {} | {} | {}-{} | {} |\n", name.first.empty() ? "ai.onnx" : name.first,
                        name.second, row.since, row.until,
                        row.kernel      ? "kernel"
                        : row.reference ? "reference"
                                        : "the plan");
  }
  return text + fmt::format("\n{} operators.\n", rows.size());
}

TEST(Support, PageIsUpToDate) {
  const std::string path = HASTEN_SOURCE_DIR "/docs/support.md";
  const std::string expected = support_text();
  if (std::getenv("HASTEN_UPDATE") != nullptr) {
    ASSERT_TRUE(write_file_atomic(path, expected));
  }
  const auto found = read_file(path);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, expected) << "run the test again with HASTEN_UPDATE=1 and commit " << path;
}

}  // namespace
}  // namespace hasten
