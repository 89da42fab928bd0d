// https://onnx.ai/onnx/operators/onnx__Gather.html, opsets 1-21, every dtype. Indices in [-s, s-1];
// any other is an error.
#include "engine/ops/indices.h"
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &indices = c.in(1);
  HASTEN_CHECK(check_int_operand(c, indices, "indices"));
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.rank()));
  HASTEN_CHECK(check_known_indices(c, indices, x.shape[axis]));
  if (!indices.has_shape) return {};
  const auto at = x.shape.begin() + static_cast<ptrdiff_t>(axis);
  Shape out(x.shape.begin(), at);
  out.insert(out.end(), indices.shape.begin(), indices.shape.end());
  out.insert(out.end(), at + 1, x.shape.end());
  c.set(0, x.dtype, std::move(out));
  return {};
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &indices = c.in(1);
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.dims.size()));
  const std::span<const int64_t> dims(x.dims);
  Dims out_dims(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(axis));
  out_dims.insert(out_dims.end(), indices.dims.begin(), indices.dims.end());
  out_dims.insert(out_dims.end(), dims.begin() + static_cast<ptrdiff_t>(axis) + 1, dims.end());
  HASTEN_TRY(const std::vector<int64_t> rows, read_indices(c, indices, x.dims[axis]));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, out_dims));
  const int64_t before = count_of(dims.first(axis)), inner = count_of(dims.subspan(axis + 1));
  dispatch_bits(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(memory);
    for (int64_t b = 0; b < before; ++b) {
      for (const int64_t row : rows) {
        for (int64_t i = 0; i < inner; ++i) {
          *out++ = x.as<T>()[(b * x.dims[axis] + row) * inner + i];
        }
      }
    }
  });
  return {};
}

Status lower(LowerContext& c) {
  if (!plain_numbers(c, "gather")) return {};
  const Dims dims = c.in_dims(0);
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), dims.size()));
  const std::span<const int64_t> all(dims);
  GatherArgs args{};
  args.row_bytes =
      count_of(all.subspan(axis + 1)) * static_cast<int64_t>(dtype_size(c.in(0).dtype));
  args.rows = dims[axis];
  args.count = count_of(c.in_dims(1));
  args.indices_i64 = c.in(1).dtype == DType::kI64;
  const int64_t items = count_of(all.first(axis)) * args.count;
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, args.row_bytes));
  if (const Tensor* index = c.constant(1); index != nullptr && args.count == 1) {
    // One place known now: a slice, split over threads whatever its size.
    HASTEN_TRY(const std::vector<int64_t> row, read_indices(c, index->view(), dims[axis]));
    StridedBlock block;
    const int64_t inner = count_of(all.subspan(axis + 1));
    block.dims = {count_of(all.first(axis)), inner};
    block.in_strides = {dims[axis] * inner, 1};
    block.out_strides = {inner, 1};
    block.in_start = row[0] * inner;
    CopyPlan plan;
    plan.add(0, 0, block, static_cast<int64_t>(dtype_size(c.in(0).dtype)));
    plan.lower(c);
    return {};
  }
  c.take("gather", [args, items, grain, kernel = c.kernels().gather](const StepArgs& s) mutable {
    GatherArgs a = args;
    a.in = s.input<char>(0);
    a.indices = s.input<void>(1);
    a.out = s.output<char>(0);
    run_indexed(s, a, items, grain, kernel);
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_gather() {
  OpDef def{"", "Gather", 1, kLastOpset, 2, 2, 1, 1, {"axis"}, infer, reference, lower};
  def.moves_elements = true;
  return {def};
}

}  // namespace hasten
