#include "engine/ir/text.h"

#include "engine/ops/bind.h"
#include "engine/ops/infer_graph.h"
#include "fuzz/targets.h"

namespace hasten::fuzz {

std::string graph_text(Input bytes) {
  auto graph = parse_graph({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!graph) return "";
  const std::string text = print_graph(*graph);
  auto again = parse_graph(text);
  // Large constants print as their hash, which does not read back.
  if (!again) {
    return text.find("hash") != text.npos || text.find('#') != text.npos
               ? ""
               : "does not read back: " + again.error().message + "\n" + text;
  }
  if (print_graph(*again) != text) return "another text the second time:\n" + text;
  // Text is what tests and people write: whatever it says, looking at it is safe.
  if (!verify(*graph) || !bind_graph(*graph)) return "";
  std::vector<RefusedNode> refused;
  (void)infer_graph(*graph, {}, nullptr, &refused);
  return "";
}

}  // namespace hasten::fuzz
