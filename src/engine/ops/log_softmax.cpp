// https://onnx.ai/onnx/operators/onnx__LogSoftmax.html, opsets 1-12 (over all axes from one on) and
// 13-21 (along one axis), floats. A row of -inf alone gives NaN.
#include "engine/ops/op.h"
#include "engine/ops/softmax_rows.h"

namespace hasten {

std::vector<OpDef> ops_log_softmax() { return softmax_rows("LogSoftmax", true); }

}  // namespace hasten
