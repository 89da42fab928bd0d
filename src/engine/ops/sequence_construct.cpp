// https://onnx.ai/onnx/operators/onnx__SequenceConstruct.html, opsets 11-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  DType element = DType::kNone;
  for (size_t i = 0; i < c.inputs(); ++i) {
    const DType dtype = c.in(i).dtype;
    if (dtype == DType::kSequence || dtype == DType::kOptional) {
      return c.invalid("input {} is {}, it must be a tensor", i, c.in(i).text());
    }
    if (element != DType::kNone && dtype != DType::kNone && dtype != element) {
      return c.invalid("input {} is {}, those before it are {}", i, dtype_name(dtype),
                       dtype_name(element));
    }
    if (dtype != DType::kNone) element = dtype;
  }
  set_sequence(c, element, Dim(static_cast<int64_t>(c.inputs())));
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(void* out, c.out(0, DType::kSequence, {static_cast<int64_t>(c.inputs())}));
  for (size_t i = 0; i < c.inputs(); ++i) {
    HASTEN_TRY(static_cast<Tensor*>(out)[i], Tensor::copy(c.in(i)));
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_sequence_construct() {
  return {sequence_op("SequenceConstruct", 11, kLastOpset, 1, -1, {}, infer, reference)};
}

}  // namespace hasten
