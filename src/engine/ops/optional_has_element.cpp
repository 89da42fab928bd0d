// https://onnx.ai/onnx/operators/onnx__OptionalHasElement.html, opsets 15-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  c.set(0, DType::kBool, {});
  return {};
}

// A tensor or sequence (opset 18) is always there.
Status reference(RefContext& c) {
  HASTEN_TRY(void* out, c.out(0, DType::kBool, {}));
  *static_cast<bool*>(out) =
      c.has_in(0) && (c.in(0).dtype != DType::kOptional || c.in(0).count() > 0);
  return {};
}

}  // namespace

std::vector<OpDef> ops_optional_has_element() {
  return {sequence_op("OptionalHasElement", 15, kLastOpset, 0, 1, {}, infer, reference)};
}

}  // namespace hasten
