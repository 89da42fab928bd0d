// https://onnx.ai/onnx/operators/onnx__GlobalMaxPool.html, opsets 1-21, floats.
#include "engine/ops/global_pool.h"

namespace hasten {

std::vector<OpDef> ops_global_max_pool() { return global_pool<Reduction::kMax>("GlobalMaxPool"); }

}  // namespace hasten
