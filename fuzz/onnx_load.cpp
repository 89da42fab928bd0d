// Bytes as an ONNX file: an error or a graph that verifies, infers and prints; never a crash.
#include "engine/ir/text.h"
#include "engine/onnx/load.h"
#include "engine/ops/infer_graph.h"

using namespace hasten;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  LoadOptions options;
  options.max_bytes = 1 << 24;
  options.max_nodes = 1000;
  auto graph = load_onnx_bytes({reinterpret_cast<const std::byte*>(data), size}, "", options);
  if (!graph) return 0;
  if (!verify(*graph)) __builtin_trap();
  find_unsupported(*graph);
  if (infer_graph(*graph, {})) print_graph(*graph);
  return 0;
}
