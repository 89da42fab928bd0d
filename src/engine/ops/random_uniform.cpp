// https://onnx.ai/onnx/operators/onnx__RandomUniform.html, opsets 7-21: f16, f32, f64.
#include "engine/ops/op.h"
#include "engine/ops/random_numbers.h"

namespace hasten {

std::vector<OpDef> ops_random_uniform() { return random_fill("RandomUniform", false, false); }

}  // namespace hasten
