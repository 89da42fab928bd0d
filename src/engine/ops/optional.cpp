// https://onnx.ai/onnx/operators/onnx__Optional.html, opsets 15-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

// A value that may be absent: with an input it holds it, without one it is empty, and the attribute
// `type` says what it could hold.
Status infer(InferContext& c) {
  DType element = c.in(0).dtype;
  if (element == DType::kOptional) return c.invalid("an optional value of an optional value");
  if (c.inputs() == 0) {
    if (c.node().find_attr("type") == nullptr) {
      return c.invalid("without an input, attribute 'type' is required");
    }
    element = dtype_from_name(c.node().attr_string("type", ""));
  }
  c.set(0, DType::kOptional, {Dim(c.has_in(0) ? 1 : 0)});
  c.out(0).element = element;
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(void* out, c.out(0, DType::kOptional, {c.has_in(0) ? 1 : 0}));
  if (c.has_in(0)) {
    HASTEN_TRY(*static_cast<Tensor*>(out), Tensor::copy(c.in(0)));
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_optional() {
  return {sequence_op("Optional", 15, kLastOpset, 0, 1, {"type"}, infer, reference)};
}

}  // namespace hasten
