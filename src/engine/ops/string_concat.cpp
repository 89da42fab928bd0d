// https://onnx.ai/onnx/operators/onnx__StringConcat.html, opsets 20-21.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kStrings); }

Status reference(RefContext& c) {
  return reference_binary<std::string>(
      c, DType::kString, [](const std::string& x, const std::string& y) { return x + y; });
}

}  // namespace

std::vector<OpDef> ops_string_concat() {
  return {{"", "StringConcat", 20, kLastOpset, 2, 2, 1, 1, {}, infer, reference}};
}

}  // namespace hasten
