// https://onnx.ai/onnx/operators/onnx__ReduceSumSquare.html, opsets 1-21 (axes are an attribute
// until 17), all numbers.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

std::vector<OpDef> ops_reduce_sum_square() {
  return reduction_rows("ReduceSumSquare", Reduction::kSumSquare, 18);
}

}  // namespace hasten
