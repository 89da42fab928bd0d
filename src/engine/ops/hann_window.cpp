// https://onnx.ai/onnx/operators/onnx__HannWindow.html, opsets 17-21; numbers.
#include "engine/ops/cosine_window.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status reference(RefContext& c) { return reference_window(c, {0.5, -0.5, 0}); }

}  // namespace

std::vector<OpDef> ops_hann_window() {
  return {{"",
           "HannWindow",
           17,
           kLastOpset,
           1,
           1,
           1,
           1,
           {"output_datatype", "periodic"},
           infer_window,
           reference}};
}

}  // namespace hasten
