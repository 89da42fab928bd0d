// https://onnx.ai/onnx/operators/onnx__Identity.html, opsets 1-21, tensors of every dtype,
// sequences and optional values. Costs nothing, in any layout.
#include "engine/ops/elementwise.h"
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  if (!holds_objects(x.dtype)) return infer_unary(c);
  set_like(c, x);
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* out, c.out(0, x.dtype, x.dims));
  copy_elements(x.dtype, x.data, out, x.count());
  return {};
}

Status lower(LowerContext& c) {
  if (c.in(0).layout == c.out(0).layout) {
    c.alias(0);
  } else {
    c.refuse("alias", "another layout");
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_identity() {
  OpDef def{"", "Identity", 1, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower};
  def.moves_elements = true;
  def.takes_sequences = true;
  return {def};
}

}  // namespace hasten
