// https://onnx.ai/onnx/operators/onnx__Loop.html, opsets 1-21. The run goes through the body itself
// (exec/loops.cpp); what the outputs are follows from the body (ops/infer_graph.cpp).
#include "engine/ops/loop_body.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts &trips = c.in(0), &condition = c.in(1);
  if (trips.dtype != DType::kNone && trips.dtype != DType::kI64) {
    return c.invalid("the trip count is {}, it must be int64", trips.text());
  }
  if (condition.dtype != DType::kNone && condition.dtype != DType::kBool) {
    return c.invalid("the condition is {}, it must be bool", condition.text());
  }
  for (const Facts* f : {&trips, &condition}) {
    if (f->known_shape() && count_of(to_dims(f->shape)) != 1) {
      return c.invalid("the trip count and the condition are one element, this is {}", f->text());
    }
  }
  const size_t states = c.inputs() > 2 ? c.inputs() - 2 : 0;
  HASTEN_CHECK(check_body(c, states + 2, states + 1));
  return check_required(c, 2);
}

}  // namespace

std::vector<OpDef> ops_loop() {
  OpDef def{"", "Loop", 1, kLastOpset, 0, -1, 1, -1, {"body"}, infer, nullptr};
  def.takes_sequences = true;
  return {def};
}

}  // namespace hasten
