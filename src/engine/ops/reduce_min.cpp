// https://onnx.ai/onnx/operators/onnx__ReduceMin.html, opsets 1-21 (axes are an attribute until
// 17), all numbers and (as of 20) truths.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

std::vector<OpDef> ops_reduce_min() { return reduction_rows("ReduceMin", Reduction::kMin, 18); }

}  // namespace hasten
