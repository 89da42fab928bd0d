#include "engine/ops/loop_body.h"

namespace hasten {

Status check_body(InferContext& c, size_t inputs, size_t min_outputs) {
  const Node& node = c.node();
  if (node.blocks.size() != 1 || node.blocks[0].name != "body") {
    return c.invalid("attribute 'body' is missing");
  }
  const Block& body = node.blocks[0].block;
  if (body.inputs.size() != inputs) {
    return c.invalid("body has {} inputs, the node gives it {}", body.inputs.size(), inputs);
  }
  if (body.outputs.size() < min_outputs) {
    return c.invalid("body has {} outputs, at least {} are needed", body.outputs.size(),
                     min_outputs);
  }
  const size_t own = node.op == "Loop" ? 1 : 0;  // the condition
  if (c.outputs() > body.outputs.size() - own) {
    return c.invalid("{} outputs, but body makes {}", c.outputs(), body.outputs.size() - own);
  }
  for (size_t i = 0; i < c.outputs(); ++i) c.set_unknown(i, DType::kNone);
  return {};
}

Status check_required(const InferContext& c, size_t first) {
  for (size_t i = first; i < c.inputs(); ++i) {
    if (!c.has_in(i)) return c.invalid("input {} is required, but absent", i);
  }
  return {};
}

}  // namespace hasten
