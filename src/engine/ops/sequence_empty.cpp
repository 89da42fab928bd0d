// https://onnx.ai/onnx/operators/onnx__SequenceEmpty.html, opsets 11-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const int64_t number = c.node().attr_int("dtype", 1);
  if (number < 1 || number > 255 || !dtype_supported(static_cast<int>(number))) {
    return c.unsupported("dtype {} ({})", number, onnx_dtype_name(static_cast<int>(number)));
  }
  set_sequence(c, static_cast<DType>(number), Dim(0));
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(void* out, c.out(0, DType::kSequence, {0}));
  (void)out;
  return {};
}

}  // namespace

std::vector<OpDef> ops_sequence_empty() {
  return {sequence_op("SequenceEmpty", 11, kLastOpset, 0, 0, {"dtype"}, infer, reference)};
}

}  // namespace hasten
