// https://onnx.ai/onnx/operators/onnx__ScatterElements.html, opsets 11-21, and onnx__Scatter.html,
// opsets 9-10, every dtype. Of several updates of one element without reduction the last one wins.
#include "engine/ops/op.h"
#include "engine/ops/scatter.h"

#include "engine/ops/indices.h"
#include "engine/ops/moves.h"

namespace hasten {

Result<Reduction> reduction_of(const OpContext& c) {
  const std::string name = c.node().attr_string("reduction", "none");
  if (name == "none") return Reduction::kNone;
  if (name == "add") return Reduction::kAdd;
  if (name == "mul") return Reduction::kMul;
  if (name == "max" && c.node().version >= 18) return Reduction::kMax;
  if (name == "min" && c.node().version >= 18) return Reduction::kMin;
  return c.invalid("attribute 'reduction' is '{}', which is none of its values", name);
}

Status check_reduction(const OpContext& c, Reduction reduction, DType dtype) {
  if (reduction == Reduction::kNone || is_float(dtype) || is_int(dtype) || dtype == DType::kNone) {
    return {};
  }
  return c.unsupported("reduction of {}", dtype_name(dtype));
}

namespace {

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &indices = c.in(1), &updates = c.in(2);
  HASTEN_TRY(const Reduction reduction, reduction_of(c));
  HASTEN_CHECK(check_reduction(c, reduction, x.dtype));
  HASTEN_CHECK(check_int_operand(c, indices, "indices"));
  HASTEN_CHECK(check_along_axis(c, x, indices));
  if (x.dtype != updates.dtype && x.dtype != DType::kNone && updates.dtype != DType::kNone) {
    return c.invalid("data is {}, updates are {}", dtype_name(x.dtype), dtype_name(updates.dtype));
  }
  if (indices.has_shape && updates.has_shape) {
    bool same = indices.rank() == updates.rank();
    for (size_t d = 0; same && d < indices.rank(); ++d) {
      const Dim a = indices.shape[d], b = updates.shape[d];
      same = !a.known() || !b.known() || a == b;
    }
    if (!same) {
      return c.invalid("indices {} and updates {} must have one shape", shape_text(indices.shape),
                       shape_text(updates.shape));
    }
  }
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
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.dims.size()));
  HASTEN_TRY(const std::vector<int64_t> rows, read_indices(c, indices, x.dims[axis]));
  HASTEN_CHECK(check_no_symbols(c, reduction != Reduction::kNone));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  copy_elements(x.dtype, x.data, memory, x.count());
  dispatch_any(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(memory);
    for_each_along_axis(x.dims, indices.dims, axis, rows, [&](int64_t i, int64_t at) {
      out[at] = reduced<T>(reduction, out[at], updates.as<T>()[i]);
    });
  });
  return {};
}

Status lower(LowerContext& c) {
  if (!plain_numbers(c, "scatter_elements")) return {};
  HASTEN_TRY(const Reduction reduction, reduction_of(c));
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), c.in(0).rank()));
  AxisIndexArgs args{};
  int64_t outer = 0;
  if (reduction != Reduction::kNone) {
    c.refuse("scatter_elements", "a reduction");
    return {};
  }
  if (!along_axis_args(c.in_dims(0), c.in_dims(1), axis, c.in(1), c.in(0), args, outer)) {
    c.refuse("scatter_elements", "indices do not cover the other axes");
    return {};
  }
  const int64_t bytes = count_of(c.in_dims(0)) * args.size;
  c.in_place({0});
  c.take("scatter_elements", [args, outer, bytes,
                              kernel = c.kernels().scatter_elements](const StepArgs& s) {
    AxisIndexArgs a = args;
    a.in = s.input<char>(2);
    a.indices = s.input<void>(1);
    a.out = s.output<char>(0);
    copy_whole(s, bytes);
    run_indexed(s, a, outer, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, a.count * a.inner)),
                kernel);
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_scatter_elements() {
  OpDef scatter{"", "Scatter", 9, 10, 3, 3, 1, 1, {"axis"}, infer, reference, lower};
  scatter.moves_elements = true;
  OpDef v11 = scatter;
  v11.name = "ScatterElements";
  v11.since = 11;
  v11.until = 15;
  OpDef v16 = v11;
  v16.since = 16;
  v16.until = kLastOpset;
  v16.attrs = {"axis", "reduction"};
  return {scatter, v11, v16};
}

}  // namespace hasten
