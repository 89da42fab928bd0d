// https://onnx.ai/onnx/operators/onnx__Scan.html, opsets 8 (a batch of sequences, with optional
// lengths) and 9-21 (any axes). The run goes through the body itself (exec/loops.cpp).
#include <algorithm>

#include "engine/ops/loop_body.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

/// A list with one entry for each of `count` things, each 0 or 1 if `flags`. Absent is fine.
Status check_list(const InferContext& c, const char* name, size_t count, bool flags) {
  if (c.node().find_attr(name) == nullptr) return {};
  const auto list = c.node().attr_ints(name);
  if (list.size() != count) {
    return c.invalid("{} has {} entries, there are {}", name, list.size(), count);
  }
  if (flags && std::any_of(list.begin(), list.end(), [](int64_t x) { return x != 0 && x != 1; })) {
    return c.invalid("{} must be 0 or 1 each", name);
  }
  return {};
}

Status infer(InferContext& c) {
  const size_t skip = c.node().version < 9 ? 1 : 0;  // sequence_lens
  const int64_t scanned = c.node().attr_int("num_scan_inputs", 0);
  if (c.inputs() <= skip) return c.invalid("no inputs to scan");
  if (scanned < 1 || scanned > static_cast<int64_t>(c.inputs() - skip)) {
    return c.invalid("num_scan_inputs is {}, there are {} inputs", scanned, c.inputs() - skip);
  }
  const size_t given = c.inputs() - skip, states = given - static_cast<size_t>(scanned);
  HASTEN_CHECK(check_body(c, given, states));
  HASTEN_CHECK(check_required(c, skip));
  if (skip == 1 && c.in(0).dtype != DType::kNone && c.in(0).dtype != DType::kI64) {
    return c.invalid("sequence_lens is {}, it must be int64", c.in(0).text());
  }
  const auto n = static_cast<size_t>(scanned);
  const size_t scans = c.node().blocks[0].block.outputs.size() - states;
  HASTEN_CHECK(check_list(c, "directions", n, true));
  HASTEN_CHECK(check_list(c, "scan_input_directions", n, true));
  HASTEN_CHECK(check_list(c, "scan_output_directions", scans, true));
  HASTEN_CHECK(check_list(c, "scan_input_axes", n, false));
  return check_list(c, "scan_output_axes", scans, false);
}

}  // namespace

std::vector<OpDef> ops_scan() {
  return {
      {"", "Scan", 8, 8, 0, -1, 1, -1, {"body", "directions", "num_scan_inputs"}, infer, nullptr},
      {"",
       "Scan",
       9,
       kLastOpset,
       1,
       -1,
       1,
       -1,
       {"body", "num_scan_inputs", "scan_input_axes", "scan_input_directions", "scan_output_axes",
        "scan_output_directions"},
       infer,
       nullptr}};
}

}  // namespace hasten
