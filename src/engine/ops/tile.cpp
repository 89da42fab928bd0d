// https://onnx.ai/onnx/operators/onnx__Tile.html, opsets 6-21, every dtype.
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status check_repeats(const OpContext& c, std::span<const int64_t> repeats, size_t rank) {
  if (repeats.size() != rank) {
    return c.invalid("{} repeats for an input of rank {}", repeats.size(), rank);
  }
  for (int64_t r : repeats) {
    if (r < 0 && !Dim::is_symbol_code(r)) {
      return c.invalid("repeats {} contain the negative {}", dims_text(repeats), r);
    }
  }
  return {};
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &repeats = c.in(1);
  HASTEN_CHECK(check_int_list(c, repeats, "repeats", false));
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  const auto known = known_ints(repeats);
  if (!known) {
    c.set(0, x.dtype, fresh_shape(x.rank()));
    return {};
  }
  HASTEN_CHECK(check_repeats(c, *known, x.rank()));
  Shape out = x.shape;
  for (size_t d = 0; d < out.size(); ++d) {
    const Dim both[] = {out[d], Dim::from_code((*known)[d])};
    HASTEN_TRY(out[d], dim_product(c, both));
  }
  c.set(0, x.dtype, std::move(out));
  return {};
}

/// Each axis twice: which repeat (the input stands still), and where in it.
StridedBlock tiled(const Dims& in, std::span<const int64_t> repeats) {
  StridedBlock block;
  Dims out = in;
  for (size_t d = 0; d < in.size(); ++d) out[d] *= repeats[d];
  const Dims in_strides = row_major_strides(in), out_strides = row_major_strides(out);
  for (size_t d = 0; d < in.size(); ++d) {
    block.dims.insert(block.dims.end(), {repeats[d], in[d]});
    block.in_strides.insert(block.in_strides.end(), {0, in_strides[d]});
    block.out_strides.insert(block.out_strides.end(), {in[d] * out_strides[d], out_strides[d]});
  }
  return block;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const std::vector<int64_t> repeats = read_ints(c.in(1));
  HASTEN_CHECK(check_repeats(c, repeats, x.dims.size()));
  if (has_symbols(repeats)) return c.unsupported("repeats that are not numbers yet");
  Dims dims = x.dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (__builtin_mul_overflow(dims[d], repeats[d], &dims[d])) {
      return c.invalid("{} elements repeated {} times are too many", x.dims[d], repeats[d]);
    }
  }
  HASTEN_TRY(void* out, c.out(0, x.dtype, dims));
  copy_block(x.dtype, x.data, out, tiled(x.dims, repeats));
  return {};
}

Status lower(LowerContext& c) {
  if (!plain_numbers(c, "copy")) return {};
  const auto repeats = known_ints(c.in(1));
  if (!repeats) {
    c.refuse("copy", "repeats known only at run time");
    return {};
  }
  const Dims in = c.in_dims(0);
  if (count_of(in) == count_of(c.out_dims(0))) {
    c.alias(0);
    return {};
  }
  CopyPlan plan;
  plan.add(0, 0, tiled(in, *repeats), static_cast<int64_t>(dtype_size(c.in(0).dtype)));
  plan.lower(c);
  return {};
}

}  // namespace

std::vector<OpDef> ops_tile() {
  OpDef def{"", "Tile", 6, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower};
  def.moves_elements = true;
  return {def};
}

}  // namespace hasten
