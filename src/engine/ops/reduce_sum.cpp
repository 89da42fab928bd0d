// https://onnx.ai/onnx/operators/onnx__ReduceSum.html, opsets 1-21 (axes are an attribute until
// 12), all numbers.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

std::vector<OpDef> ops_reduce_sum() { return reduction_rows("ReduceSum", Reduction::kSum, 13); }

}  // namespace hasten
