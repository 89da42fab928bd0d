// https://onnx.ai/onnx/operators/onnx__DepthToSpace.html and onnx__SpaceToDepth.html, opsets 1-21,
// every dtype: transposes of [N,C,H,W] seen as six axes.
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Result<int64_t> block_size(const OpContext& c) {
  const int64_t b = c.node().attr_int("blocksize", 0);
  if (b <= 0 || b > INT32_MAX) return c.invalid("blocksize {} is not positive", b);
  return b;
}

/// The mode of DepthToSpace: column-row-depth, or depth-column-row.
Result<bool> is_crd(const OpContext& c) {
  const std::string mode = c.node().attr_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return c.invalid("mode '{}' is neither DCR nor CRD", mode);
  return mode == "CRD";
}

Result<Dim> divided(const OpContext& c, Dim d, int64_t by, const char* what) {
  if (!d.known()) return by == 1 ? d : Dim::fresh();
  if (d.value() % by != 0) return c.invalid("{} {} are not a multiple of {}", d.value(), what, by);
  return Dim(d.value() / by);
}

Result<Shape> to_space(const OpContext& c, const Shape& in) {
  HASTEN_TRY(const int64_t b, block_size(c));
  if (in.size() != 4) return c.invalid("the input has rank {}, it must be 4", in.size());
  HASTEN_TRY(const Dim channels, divided(c, in[1], b * b, "channels"));
  HASTEN_TRY(const Dim rows, dim_times(c, in[2], b));
  HASTEN_TRY(const Dim columns, dim_times(c, in[3], b));
  return Shape{in[0], channels, rows, columns};
}

Result<Shape> to_depth(const OpContext& c, const Shape& in) {
  HASTEN_TRY(const int64_t b, block_size(c));
  if (in.size() != 4) return c.invalid("the input has rank {}, it must be 4", in.size());
  HASTEN_TRY(const Dim channels, dim_times(c, in[1], b * b));
  HASTEN_TRY(const Dim rows, divided(c, in[2], b, "rows"));
  HASTEN_TRY(const Dim columns, divided(c, in[3], b, "columns"));
  return Shape{in[0], channels, rows, columns};
}

/// `axes` of a dense tensor of `dims` in the order of the output.
StridedBlock permuted(const Dims& dims, std::span<const size_t> axes) {
  const Dims strides = row_major_strides(dims);
  StridedBlock block;
  for (size_t axis : axes) {
    block.dims.push_back(dims[axis]);
    block.in_strides.push_back(strides[axis]);
  }
  block.out_strides = row_major_strides(block.dims);
  return block;
}

Result<StridedBlock> block_to_space(const OpContext& c, const Dims& in) {
  HASTEN_TRY(const int64_t b, block_size(c));
  HASTEN_TRY(const bool crd, is_crd(c));
  const int64_t channels = in[1] / (b * b);
  if (crd) {
    static constexpr size_t kAxes[] = {0, 1, 4, 2, 5, 3};
    return permuted({in[0], channels, b, b, in[2], in[3]}, kAxes);
  }
  static constexpr size_t kAxes[] = {0, 3, 4, 1, 5, 2};
  return permuted({in[0], b, b, channels, in[2], in[3]}, kAxes);
}

Result<StridedBlock> block_to_depth(const OpContext& c, const Dims& in) {
  HASTEN_TRY(const int64_t b, block_size(c));
  static constexpr size_t kAxes[] = {0, 3, 5, 1, 2, 4};
  return permuted({in[0], in[1], in[2] / b, b, in[3] / b, b}, kAxes);
}

using ShapeFn = Result<Shape> (*)(const OpContext&, const Shape&);
using BlockFn = Result<StridedBlock> (*)(const OpContext&, const Dims&);

template <ShapeFn kShape>
Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_CHECK(is_crd(c));
  HASTEN_CHECK(block_size(c));
  if (!x.has_shape) {
    c.set(0, x.dtype, fresh_shape(4));
    return {};
  }
  HASTEN_TRY(Shape shape, kShape(c, x.shape));
  c.set(0, x.dtype, std::move(shape));
  return {};
}

template <ShapeFn kShape, BlockFn kBlock>
Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const Shape shape, kShape(c, to_shape(x.dims)));
  HASTEN_TRY(const StridedBlock block, kBlock(c, x.dims));
  HASTEN_TRY(void* out, c.out(0, x.dtype, to_dims(shape)));
  copy_block(x.dtype, x.data, out, block);
  return {};
}

template <BlockFn kBlock>
Status lower(LowerContext& c) {
  if (!plain_numbers(c, "copy")) return {};
  HASTEN_TRY(const StridedBlock block, kBlock(c, c.in_dims(0)));
  CopyPlan plan;
  plan.add(0, 0, block, static_cast<int64_t>(dtype_size(c.in(0).dtype)));
  plan.lower(c);
  return {};
}

}  // namespace

std::vector<OpDef> ops_depth_to_space() {
  OpDef dts{"",
            "DepthToSpace",
            1,
            10,
            1,
            1,
            1,
            1,
            {"blocksize"},
            infer<to_space>,
            reference<to_space, block_to_space>,
            lower<block_to_space>};
  dts.moves_elements = true;
  OpDef dts11 = dts;
  dts11.since = 11;
  dts11.until = kLastOpset;
  dts11.attrs = {"blocksize", "mode"};
  OpDef space_to_depth = dts;
  space_to_depth.name = "SpaceToDepth";
  space_to_depth.until = kLastOpset;
  space_to_depth.infer = infer<to_depth>;
  space_to_depth.reference = reference<to_depth, block_to_depth>;
  space_to_depth.lower = lower<block_to_depth>;
  return {dts, dts11, space_to_depth};
}

}  // namespace hasten
