// https://onnx.ai/onnx/operators/onnx__RandomUniformLike.html, opsets 7-21: f16, f32, f64.
#include "engine/ops/op.h"
#include "engine/ops/random_numbers.h"

namespace hasten {

std::vector<OpDef> ops_random_uniform_like() {
  return random_fill("RandomUniformLike", false, true);
}

}  // namespace hasten
