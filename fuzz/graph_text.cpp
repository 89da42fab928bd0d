// Bytes as the text of a graph: an error, or a graph whose text reads back as the same text.
#include "engine/ir/text.h"

using namespace hasten;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto graph = parse_graph({reinterpret_cast<const char*>(data), size});
  if (!graph) return 0;
  const std::string text = print_graph(*graph);
  auto again = parse_graph(text);
  // Large constants print as their hash, which does not read back.
  if (!again) return 0;
  if (print_graph(*again) != text) __builtin_trap();
  return 0;
}
