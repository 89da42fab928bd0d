// https://onnx.ai/onnx/operators/onnx__Concat.html, opsets 4-21, every dtype.
#include "engine/ops/layout_rules.h"
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  if (c.node().find_attr("axis") == nullptr) return c.invalid("attribute 'axis' is missing");
  DType dtype = DType::kNone;
  size_t dtype_from = 0;
  const Facts* first = nullptr;
  bool all_shapes = true;
  for (size_t i = 0; i < c.inputs(); ++i) {
    const Facts& x = c.in(i);
    if (!c.has_in(i)) return c.invalid("input {} is absent", i);
    if (dtype == DType::kNone) {
      dtype = x.dtype;
      dtype_from = i;
    } else if (x.dtype != DType::kNone && x.dtype != dtype) {
      return c.invalid("input {} is {}, input {} is {}; they must have one dtype", dtype_from,
                       dtype_name(dtype), i, dtype_name(x.dtype));
    }
    all_shapes &= x.has_shape;
    if (first == nullptr && x.has_shape) first = &x;
  }
  if (first == nullptr) {
    c.set_unknown(0, dtype);
    return {};
  }
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), first->rank()));
  Shape out = first->shape;
  Dim sum(0);
  for (size_t i = 0; i < c.inputs(); ++i) {
    const Facts& x = c.in(i);
    if (!x.has_shape) continue;
    if (x.rank() != out.size()) {
      return c.invalid("input {} has the shape {}, which does not join {} (rank {} and {})", i,
                       shape_text(x.shape), shape_text(first->shape), x.rank(), out.size());
    }
    for (size_t d = 0; d < out.size(); ++d) {
      if (d == axis || x.shape[d] == out[d] || !x.shape[d].known()) continue;
      if (out[d].known()) {
        return c.invalid("input {} has the shape {}, which does not join {} along axis {}", i,
                         shape_text(x.shape), shape_text(out), axis);
      }
      out[d] = x.shape[d];
    }
    HASTEN_TRY(sum, dim_sum(c, sum, x.shape[axis]));
  }
  out[axis] = all_shapes ? sum : Dim::fresh();
  c.set(0, dtype, std::move(out));
  return {};
}

/// Where input dims `part` go along `axis` of `out`, `begin` elements from its start.
StridedBlock part_block(const Dims& part, const Dims& out, size_t axis, int64_t begin) {
  StridedBlock block{part, row_major_strides(part), row_major_strides(out)};
  block.out_start = begin * block.out_strides[axis];
  return block;
}

/// Images in nchw16c go behind `begin` channels: of each block, what fits into one block of the
/// output, and the rest into the next. `out` as it is stored. The `last` image brings the zeros
/// that pad its last block.
void add_channels(CopyPlan& plan, size_t input, const Dims& image, const Dims& out, int64_t begin,
                  bool last) {
  constexpr int64_t kBlock = 16;
  const int64_t pixels = image[2] * image[3], blocks = (image[1] + kBlock - 1) / kBlock;
  const int64_t shift = begin % kBlock;
  const auto add = [&](int64_t block, int64_t count, int64_t lane, int64_t to_lane, int64_t lanes) {
    const int64_t to_block = (begin + block * kBlock + lane) / kBlock;
    StridedBlock copied{{image[0], std::min(count, out[1] - to_block), pixels, lanes},
                        {blocks * pixels * kBlock, pixels * kBlock, kBlock, 1},
                        {out[1] * pixels * kBlock, pixels * kBlock, kBlock, 1}};
    copied.in_start = block * pixels * kBlock + lane;
    copied.out_start = to_block * pixels * kBlock + to_lane;
    if (copied.dims[1] > 0) plan.add(input, 0, copied, sizeof(float));
  };
  const auto add_blocks = [&](int64_t block, int64_t count, int64_t lanes) {
    const int64_t fit = std::min(lanes, kBlock - shift);
    add(block, count, 0, shift, fit);
    if (fit < lanes) add(block, count, fit, 0, lanes - fit);
  };
  const int64_t whole = last ? blocks : image[1] / kBlock;
  if (whole > 0) add_blocks(0, whole, kBlock);
  if (whole < blocks) add_blocks(whole, 1, image[1] % kBlock);
}

Status reference(RefContext& c) {
  const size_t rank = c.in(0).dims.size();
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), rank));
  Dims dims = c.in(0).dims;
  for (size_t i = 1; i < c.inputs(); ++i) {
    if (__builtin_add_overflow(dims[axis], c.in(i).dims[axis], &dims[axis])) {
      return c.invalid("the parts have too many elements");
    }
  }
  HASTEN_TRY(void* out, c.out(0, c.in(0).dtype, dims));
  int64_t begin = 0;
  for (size_t i = 0; i < c.inputs(); ++i) {
    const TensorView& x = c.in(i);
    copy_block(x.dtype, x.data, out, part_block(x.dims, dims, axis, begin));
    begin += x.dims[axis];
  }
  return {};
}

Status lower(LowerContext& c) {
  const Facts& out = c.out(0);
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), out.rank()));
  if (out.layout == Layout::kPlain) {
    if (!plain_numbers(c, "copy")) return {};
  }
  const StoredDims to = storage_of(out);
  CopyPlan plan;
  Dims channels;
  int64_t begin = 0;
  for (size_t i = 0; i < c.inputs(); ++i) {
    const Facts& x = c.in(i);
    if (x.layout != out.layout) {
      c.refuse("copy", fmt::format("input {} has another layout than the output", i));
      return {};
    }
    const StoredDims from = storage_of(x);
    if (out.layout == Layout::kNchw16c && axis == 1) {
      channels.push_back(x.shape[1].value());
      add_channels(plan, i, to_dims(x.shape), to.dims, begin, i + 1 == c.inputs());
      begin += channels.back();
    } else {
      plan.add(i, 0, part_block(from.dims, to.dims, axis, begin), from.element_bytes);
      begin += from.dims[axis];
    }
  }
  if (!channels.empty() && !joins_blocked(channels)) {
    c.refuse("copy", fmt::format("{} channels end within a block", dims_text(channels)));
    return {};
  }
  plan.lower(c);
  return {};
}

}  // namespace

std::vector<OpDef> ops_concat() {
  OpDef def{"", "Concat", 4, kLastOpset, 1, -1, 1, 1, {"axis"}, infer, reference, lower};
  def.moves_elements = true;
  return {def};
}

}  // namespace hasten
