// https://onnx.ai/onnx/operators/onnx__ReduceMean.html, opsets 1-21 (axes are an attribute until
// 17), all numbers.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

std::vector<OpDef> ops_reduce_mean() { return reduction_rows("ReduceMean", Reduction::kMean, 18); }

}  // namespace hasten
