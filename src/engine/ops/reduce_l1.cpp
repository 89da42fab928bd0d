// https://onnx.ai/onnx/operators/onnx__ReduceL1.html, opsets 1-21 (axes are an attribute until
// 17), all numbers.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

std::vector<OpDef> ops_reduce_l1() { return reduction_rows("ReduceL1", Reduction::kL1, 18); }

}  // namespace hasten
