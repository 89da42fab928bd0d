// https://onnx.ai/onnx/operators/onnx__GlobalAveragePool.html, opsets 1-21, floats.
#include "engine/ops/global_pool.h"

namespace hasten {

std::vector<OpDef> ops_global_average_pool() {
  return global_pool<Reduction::kMean>("GlobalAveragePool");
}

}  // namespace hasten
