// https://onnx.ai/onnx/operators/onnx__ReduceProd.html, opsets 1-21 (axes are an attribute until
// 17), all numbers.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

std::vector<OpDef> ops_reduce_prod() { return reduction_rows("ReduceProd", Reduction::kProd, 18); }

}  // namespace hasten
