// Bytes as an ONNX file: an error or a graph that verifies, infers and prints; never a crash.
#include "engine/ir/text.h"
#include "engine/onnx/load.h"
#include "engine/ops/infer_graph.h"

using namespace hasten;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  LoadOptions options;
  options.limits.bytes = 1 << 24;
  options.limits.nodes = 1000;
  options.keep_unsupported = true;
  auto graph = load_onnx_bytes(bytes, "", options);
  if (!graph) return 0;
  if (!verify(*graph)) __builtin_trap();
  if (!list_unsupported(bytes)) __builtin_trap();  // what loads can be listed
  if (infer_graph(*graph, {})) print_graph(*graph);
  return 0;
}
