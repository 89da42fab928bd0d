// https://onnx.ai/onnx/operators/onnx__HammingWindow.html, opsets 17-21; numbers. As its function
// body has it: 25/46 where others round to 0.54.
#include "engine/ops/cosine_window.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status reference(RefContext& c) { return reference_window(c, {25.0 / 46, -21.0 / 46, 0}); }

}  // namespace

std::vector<OpDef> ops_hamming_window() {
  return {{"",
           "HammingWindow",
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
