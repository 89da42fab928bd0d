// https://onnx.ai/onnx/operators/onnx__ReduceLogSum.html, opsets 1-21 (axes are an attribute until
// 17), all numbers.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

std::vector<OpDef> ops_reduce_log_sum() {
  return reduction_rows("ReduceLogSum", Reduction::kLogSum, 18);
}

}  // namespace hasten
