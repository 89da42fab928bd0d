// docs/support.md: made from the table of contents of operators and the results of the node tests.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/mapped_file.h"
#include "engine/ops/op.h"

namespace hasten::test {

/// Node tests that use an operator, on the best kernels: right, and refused by name.
struct NodeTestCount {
  int right = 0, refused = 0;
  bool operator==(const NodeTestCount&) const = default;
};
/// By domain and name.
using NodeTestCounts = std::map<std::pair<std::string, std::string>, NodeTestCount>;

inline std::string support_path() { return HASTEN_SOURCE_DIR "/docs/support.md"; }

inline std::string domain_text(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

/// The page of all operators.
inline std::string support_page(const NodeTestCounts& counts) {
  struct Row {
    int since = kLastOpset, until = 0;
    bool kernel = false, reference = false;
  };
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
      "Generated from `src/engine/ops/ops.inc` and the node tests (HASTEN_UPDATE=1, the test "
      "`ops`); don't edit. Opsets\nare those of the operator's domain that are accepted. "
      "\"kernel\": some dtypes and layouts run on a kernel of\nevery tier; all others run on the "
      "reference, which `profile` reports. \"node tests\": those of libonnx-testdata\nand of the "
      "python package onnx that use the operator and give the right answer. float8, int4 and "
      "complex are\nrefused by name. Operators of the domain `hasten` are made by passes.\n\n"
      "| domain | operator | opsets | runs on | node tests |\n|---|---|---|---|---|\n";
  for (const auto& [name, row] : rows) {
    const auto it = counts.find(name);
    const NodeTestCount n = it == counts.end() ? NodeTestCount() : it->second;
    text += fmt::format("| {} | {} | {}-{} | {} | {}{} |\n", domain_text(name.first), name.second,
                        row.since, row.until,
                        row.kernel      ? "kernel"
                        : row.reference ? "reference"
                                        : "the plan",
                        n.right, n.refused > 0 ? fmt::format(", {} refused", n.refused) : "");
  }
  return text + fmt::format("\n{} operators.\n", rows.size());
}

/// The counts on a page.
inline NodeTestCounts counts_on(const std::string& page) {
  NodeTestCounts counts;
  for (size_t at = page.find("\n| "); at != page.npos; at = page.find("\n| ", at + 1)) {
    const std::string line = page.substr(at + 1, page.find('\n', at + 1) - at - 1);
    std::vector<std::string> cells;
    for (size_t from = 2, to = 0; (to = line.find(" |", from)) != line.npos; from = to + 3)
      cells.push_back(line.substr(from, to - from));
    if (cells.size() != 5 || cells[4].find_first_of("0123456789") != 0) continue;
    NodeTestCount& n = counts[{cells[0] == "ai.onnx" ? "" : cells[0], cells[1]}];
    n.right = std::stoi(cells[4]);
    if (const size_t comma = cells[4].find(", "); comma != cells[4].npos)
      n.refused = std::stoi(cells[4].substr(comma + 2));
  }
  return counts;
}

}  // namespace hasten::test
