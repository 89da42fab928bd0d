// https://onnx.ai/onnx/operators/onnx__ReduceL1.html, opsets 1-21 (axes are an attribute until
// 17), all numbers.
#include "engine/ops/reduction.h"
#include "engine/ops/table.h"

namespace hasten {

std::vector<OpDef> ops_reduce_l1() { return reduction_rows("ReduceL1", Reduction::kL1, 18); }

}  // namespace hasten
