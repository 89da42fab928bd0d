// https://onnx.ai/onnx/operators/onnx__ReduceL2.html, opsets 1-21 (axes are an attribute until
// 17), all numbers.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

std::vector<OpDef> ops_reduce_l2() { return reduction_rows("ReduceL2", Reduction::kL2, 18); }

}  // namespace hasten
