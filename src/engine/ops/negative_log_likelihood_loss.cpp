// https://onnx.ai/onnx/operators/onnx__NegativeLogLikelihoodLoss.html, opsets 12-21: f16, f32,
// f64, labels int32 and int64.
#include "engine/ops/class_loss.h"
#include "engine/ops/op.h"

namespace hasten {

std::vector<OpDef> ops_negative_log_likelihood_loss() {
  return class_loss("NegativeLogLikelihoodLoss", false);
}

}  // namespace hasten
