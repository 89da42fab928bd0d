// https://onnx.ai/onnx/operators/onnx__SoftmaxCrossEntropyLoss.html, opsets 12-21, every float
// (bfloat16 since 13), labels int32 and int64.
#include "engine/ops/class_loss.h"
#include "engine/ops/op.h"

namespace hasten {

std::vector<OpDef> ops_softmax_cross_entropy_loss() {
  return class_loss("SoftmaxCrossEntropyLoss", true);
}

}  // namespace hasten
