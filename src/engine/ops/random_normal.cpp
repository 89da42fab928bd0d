// https://onnx.ai/onnx/operators/onnx__RandomNormal.html, opsets 7-21: f16, f32, f64.
#include "engine/ops/op.h"
#include "engine/ops/random_numbers.h"

namespace hasten {

std::vector<OpDef> ops_random_normal() { return random_fill("RandomNormal", true, false); }

}  // namespace hasten
