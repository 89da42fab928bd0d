// https://onnx.ai/onnx/operators/onnx__Transpose.html, opsets 1-21, every dtype.
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

/// The attribute, or the reversed axes.
Result<std::vector<size_t>> permutation(const OpContext& c, size_t rank) {
  std::vector<int64_t> perm = c.node().attr_ints("perm");
  if (c.node().find_attr("perm") == nullptr) {
    for (size_t i = rank; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  }
  if (perm.size() != rank) {
    return c.invalid("perm {} has {} axes, the input has rank {}", dims_text(perm), perm.size(),
                     rank);
  }
  return resolve_axes(c, perm, rank);
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  HASTEN_TRY(const std::vector<size_t> perm, permutation(c, x.rank()));
  Shape out;
  for (size_t axis : perm) out.push_back(x.shape[axis]);
  c.set(0, x.dtype, std::move(out));
  return {};
}

StridedBlock permuted(const Dims& in, const std::vector<size_t>& perm) {
  const Dims strides = row_major_strides(in);
  StridedBlock block;
  for (size_t axis : perm) {
    block.dims.push_back(in[axis]);
    block.in_strides.push_back(strides[axis]);
  }
  block.out_strides = row_major_strides(block.dims);
  return block;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const std::vector<size_t> perm, permutation(c, x.dims.size()));
  const StridedBlock block = permuted(x.dims, perm);
  HASTEN_TRY(void* out, c.out(0, x.dtype, block.dims));
  copy_block(x.dtype, x.data, out, block);
  return {};
}

Status lower(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  HASTEN_TRY(const std::vector<size_t> perm, permutation(c, dims.size()));
  if (c.in(0).layout != Layout::kPlain || c.out(0).layout != Layout::kPlain) {
    c.refuse("transpose", "a blocked layout");
    return {};
  }
  // Axes of more than one element in their old order: only the dims change.
  size_t last = 0;
  bool moves = false;
  for (size_t axis : perm) {
    if (dims[axis] == 1) continue;
    moves |= axis < last;
    last = axis;
  }
  if (!moves) {
    c.alias(0);
    return {};
  }
  if (!plain_numbers(c, "transpose")) return {};
  CopyPlan plan;
  plan.add(0, 0, permuted(dims, perm), static_cast<int64_t>(dtype_size(c.in(0).dtype)));
  plan.lower(c);
  return {};
}

}  // namespace

std::vector<OpDef> ops_transpose() {
  OpDef def{"", "Transpose", 1, kLastOpset, 1, 1, 1, 1, {"perm"}, infer, reference, lower};
  def.moves_elements = true;
  return {def};
}

}  // namespace hasten
