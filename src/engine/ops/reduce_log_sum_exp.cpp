// https://onnx.ai/onnx/operators/onnx__ReduceLogSumExp.html, opsets 1-21 (axes are an attribute
// until 17), all numbers.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

std::vector<OpDef> ops_reduce_log_sum_exp() {
  return reduction_rows("ReduceLogSumExp", Reduction::kLogSumExp, 18);
}

}  // namespace hasten
