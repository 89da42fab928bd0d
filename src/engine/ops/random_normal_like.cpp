// https://onnx.ai/onnx/operators/onnx__RandomNormalLike.html, opsets 7-21: f16, f32, f64.
#include "engine/ops/op.h"
#include "engine/ops/random_numbers.h"

namespace hasten {

std::vector<OpDef> ops_random_normal_like() { return random_fill("RandomNormalLike", true, true); }

}  // namespace hasten
