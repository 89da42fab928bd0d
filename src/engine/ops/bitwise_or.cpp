// https://onnx.ai/onnx/operators/onnx__BitwiseOr.html, opsets 18-21, integers.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kInts); }

Status reference(RefContext& c) {
  return reference_ints(c, [](auto x, auto y) { return x | y; });
}

}  // namespace

std::vector<OpDef> ops_bitwise_or() {
  return {{"", "BitwiseOr", 18, kLastOpset, 2, 2, 1, 1, {}, infer, reference}};
}

}  // namespace hasten
