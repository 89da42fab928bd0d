// https://onnx.ai/onnx/operators/onnx__GatherND.html, opsets 11-21, every dtype.
#include <algorithm>

#include "engine/ops/indices.h"
#include "engine/ops/moves.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &indices = c.in(1);
  HASTEN_CHECK(check_int_operand(c, indices, "indices", false));
  c.set_unknown(0, x.dtype);
  const int64_t batch_dims = c.node().attr_int("batch_dims", 0);
  if (batch_dims < 0) return c.invalid("batch_dims {} is negative", batch_dims);
  if (!x.has_shape || !indices.has_shape) return {};
  const auto rank = static_cast<int64_t>(x.rank());
  const auto index_rank = static_cast<int64_t>(indices.rank());
  if (rank < 1 || index_rank < 1 || batch_dims >= std::min(rank, index_rank)) {
    return c.invalid("data {} and indices {} do not fit batch_dims {}", shape_text(x.shape),
                     shape_text(indices.shape), batch_dims);
  }
  for (int64_t d = 0; d < batch_dims; ++d) {
    const Dim a = x.shape[static_cast<size_t>(d)], b = indices.shape[static_cast<size_t>(d)];
    if (a.known() && b.known() && a != b) {
      return c.invalid("data {} and indices {} differ in batch dimension {}", shape_text(x.shape),
                       shape_text(indices.shape), d);
    }
  }
  const Dim width = indices.shape.back();
  if (!width.known()) return {};
  if (width.value() < 1 || width.value() > rank - batch_dims) {
    return c.invalid("indices {} have tuples of {}, data {} has {} axes to index",
                     shape_text(indices.shape), width.value(), shape_text(x.shape),
                     rank - batch_dims);
  }
  const auto first = x.shape.begin() + static_cast<ptrdiff_t>(batch_dims);
  const auto end = first + static_cast<ptrdiff_t>(width.value());
  HASTEN_CHECK(check_known_tuples(c, indices, std::vector<Dim>(first, end)));
  Shape out(indices.shape.begin(), indices.shape.end() - 1);
  out.insert(out.end(), end, x.shape.end());
  c.set(0, x.dtype, std::move(out));
  return {};
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &indices = c.in(1);
  const int64_t batch_dims = c.node().attr_int("batch_dims", 0);
  const TupleIndex t = tuple_index(x.dims, indices.dims, batch_dims);
  Dims out_dims(indices.dims.begin(), indices.dims.end() - 1);
  out_dims.insert(out_dims.end(), x.dims.begin() + static_cast<ptrdiff_t>(batch_dims + t.width),
                  x.dims.end());
  HASTEN_TRY(const std::vector<int64_t> rows, tuple_rows(c, t, indices.as<int64_t>()));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, out_dims));
  dispatch_bits(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(memory);
    for (const int64_t row : rows) {
      for (int64_t i = 0; i < t.row; ++i) *out++ = x.as<T>()[row + i];
    }
  });
  return {};
}

Status lower(LowerContext& c) {
  if (!plain_numbers(c, "gather_nd")) return {};
  const TupleIndex t = tuple_index(c.in_dims(0), c.in_dims(1), c.node().attr_int("batch_dims", 0));
  TupleIndexArgs args{};
  if (!tuple_args(t, static_cast<int64_t>(dtype_size(c.in(0).dtype)), args)) {
    c.refuse("gather_nd", fmt::format("tuples of {}", t.width));
    return {};
  }
  const int64_t tuples = t.row > 0 ? t.tuples : 0;
  c.take("gather_nd", [args, tuples, kernel = c.kernels().gather_nd](const StepArgs& s) {
    TupleIndexArgs a = args;
    a.in = s.input<char>(0);
    a.indices = s.input<int64_t>(1);
    a.out = s.output<char>(0);
    run_indexed(s, a, tuples, std::max<int64_t>(1, 32768 / (a.row_bytes + 16)), kernel);
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_gather_nd() {
  OpDef old{"", "GatherND", 11, 11, 2, 2, 1, 1, {}, infer, reference, lower};
  old.moves_elements = true;
  OpDef now = old;
  now.since = 12;
  now.until = kLastOpset;
  now.attrs = {"batch_dims"};
  return {old, now};
}

}  // namespace hasten
