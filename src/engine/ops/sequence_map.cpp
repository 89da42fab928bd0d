// https://onnx.ai/onnx/operators/onnx__SequenceMap.html, opsets 17-21. The run goes through the
// body itself (exec/loops.cpp).
#include "engine/ops/loop_body.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  if (c.in(0).dtype != DType::kSequence && c.in(0).dtype != DType::kNone) {
    return c.invalid("input 0 is {}, it must be a sequence", c.in(0).text());
  }
  HASTEN_CHECK(check_required(c, 0));
  return check_body(c, c.inputs(), 1);
}

}  // namespace

std::vector<OpDef> ops_sequence_map() {
  OpDef def{"", "SequenceMap", 17, kLastOpset, 1, -1, 1, -1, {"body"}, infer, nullptr};
  def.takes_sequences = true;
  return {def};
}

}  // namespace hasten
