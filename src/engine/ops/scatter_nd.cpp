// https://onnx.ai/onnx/operators/onnx__ScatterND.html, opsets 11-21, every dtype. Of several
// updates of one row without reduction the last one wins.
#include <algorithm>

#include "engine/ops/indices.h"
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/scatter.h"

namespace hasten {

namespace {

/// updates must be indices without their last axis, then the axes of data that tuples don't index.
Status check_shapes(const OpContext& c, const Facts& x, const Facts& indices,
                    const Facts& updates) {
  if (!x.has_shape || !indices.has_shape) return {};
  if (x.rank() < 1 || indices.rank() < 1) {
    return c.invalid("data {} and indices {} must have a dimension", shape_text(x.shape),
                     shape_text(indices.shape));
  }
  const Dim width = indices.shape.back();
  if (!width.known()) return {};
  if (width.value() < 0 || width.value() > static_cast<int64_t>(x.rank())) {
    return c.invalid("indices {} have tuples of {}, data {} has {} axes", shape_text(indices.shape),
                     width.value(), shape_text(x.shape), x.rank());
  }
  const auto end = x.shape.begin() + static_cast<ptrdiff_t>(width.value());
  if (width.value() > 0) {
    HASTEN_CHECK(check_known_tuples(c, indices, std::vector<Dim>(x.shape.begin(), end)));
  }
  if (!updates.has_shape) return {};
  Shape want(indices.shape.begin(), indices.shape.end() - 1);
  want.insert(want.end(), end, x.shape.end());
  bool same = want.size() == updates.rank();
  for (size_t d = 0; same && d < want.size(); ++d) {
    same = !want[d].known() || !updates.shape[d].known() || want[d] == updates.shape[d];
  }
  if (!same) {
    return c.invalid("updates have the shape {}, data {} and indices {} need {}",
                     shape_text(updates.shape), shape_text(x.shape), shape_text(indices.shape),
                     shape_text(want));
  }
  return {};
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &indices = c.in(1), &updates = c.in(2);
  HASTEN_TRY(const Reduction reduction, reduction_of(c));
  HASTEN_CHECK(check_reduction(c, reduction, x.dtype));
  HASTEN_CHECK(check_int_operand(c, indices, "indices", false));
  if (x.dtype != updates.dtype && x.dtype != DType::kNone && updates.dtype != DType::kNone) {
    return c.invalid("data is {}, updates are {}", dtype_name(x.dtype), dtype_name(updates.dtype));
  }
  HASTEN_CHECK(check_shapes(c, x, indices, updates));
  if (x.has_shape) {
    c.set(0, x.dtype, x.shape);
  } else {
    c.set_unknown(0, x.dtype);
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &indices = c.in(1), &updates = c.in(2);
  HASTEN_TRY(const Reduction reduction, reduction_of(c));
  const TupleIndex t = tuple_index(x.dims, indices.dims, 0);
  HASTEN_TRY(const std::vector<int64_t> rows, tuple_rows(c, t, indices.as<int64_t>()));
  HASTEN_CHECK(check_no_symbols(c, reduction != Reduction::kNone));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  copy_elements(x.dtype, x.data, memory, x.count());
  dispatch_any(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(memory);
    const T* update = updates.as<T>();
    for (const int64_t row : rows) {
      for (int64_t i = 0; i < t.row; ++i) {
        out[row + i] = reduced<T>(reduction, out[row + i], *update++);
      }
    }
  });
  return {};
}

Status lower(LowerContext& c) {
  if (!plain_numbers(c, "scatter_nd")) return {};
  HASTEN_TRY(const Reduction reduction, reduction_of(c));
  const Dims dims = c.in_dims(0);
  const TupleIndex t = tuple_index(dims, c.in_dims(1), 0);
  const auto size = static_cast<int64_t>(dtype_size(c.in(0).dtype));
  TupleIndexArgs args{};
  if (reduction != Reduction::kNone || !tuple_args(t, size, args)) {
    c.refuse("scatter_nd", reduction != Reduction::kNone ? "a reduction" : "long tuples");
    return {};
  }
  const int64_t bytes = count_of(dims) * size;
  const int64_t tuples = t.row > 0 ? t.tuples : 0;
  c.in_place({0});
  c.take("scatter_nd", [args, tuples, bytes, kernel = c.kernels().scatter_nd](const StepArgs& s) {
    TupleIndexArgs a = args;
    a.in = s.input<char>(2);
    a.indices = s.input<int64_t>(1);
    a.out = s.output<char>(0);
    copy_whole(s, bytes);
    // On one thread: rows may be named twice, and the last one wins.
    run_indexed(s, a, tuples, std::max<int64_t>(1, tuples), kernel);
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_scatter_nd() {
  OpDef v11{"", "ScatterND", 11, 15, 3, 3, 1, 1, {}, infer, reference, lower};
  v11.moves_elements = true;
  OpDef v16 = v11;
  v16.since = 16;
  v16.until = kLastOpset;
  v16.attrs = {"reduction"};
  return {v11, v16};
}

}  // namespace hasten
