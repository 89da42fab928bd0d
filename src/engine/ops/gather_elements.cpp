// https://onnx.ai/onnx/operators/onnx__GatherElements.html, opsets 11-21, every dtype.
#include "engine/ops/indices.h"
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &indices = c.in(1);
  HASTEN_CHECK(check_int_operand(c, indices, "indices"));
  HASTEN_CHECK(check_along_axis(c, x, indices));
  if (indices.has_shape) {
    c.set(0, x.dtype, indices.shape);
  } else if (x.has_shape) {
    c.set(0, x.dtype, fresh_shape(x.rank()));
  } else {
    c.set_unknown(0, x.dtype);
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &indices = c.in(1);
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.dims.size()));
  HASTEN_TRY(const std::vector<int64_t> rows, read_indices(c, indices, x.dims[axis]));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, indices.dims));
  dispatch_bits(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_along_axis(x.dims, indices.dims, axis, rows,
                        [&](int64_t i, int64_t at) { static_cast<T*>(memory)[i] = x.as<T>()[at]; });
  });
  return {};
}

Status lower(LowerContext& c) {
  if (!plain_numbers(c, "gather_elements")) return {};
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), c.in(0).rank()));
  AxisIndexArgs args{};
  int64_t outer = 0;
  if (!along_axis_args(c.in_dims(0), c.in_dims(1), axis, c.in(1), c.in(0), args, outer)) {
    c.refuse("gather_elements", "indices do not cover the other axes");
    return {};
  }
  c.take("gather_elements", [args, outer, kernel = c.kernels().gather_elements](const StepArgs& s) {
    AxisIndexArgs a = args;
    a.in = s.input<char>(0);
    a.indices = s.input<void>(1);
    a.out = s.output<char>(0);
    run_indexed(s, a, outer, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, a.count * a.inner)),
                kernel);
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_gather_elements() {
  OpDef def{"", "GatherElements", 11, kLastOpset, 2, 2, 1, 1, {"axis"}, infer, reference, lower};
  def.moves_elements = true;
  return {def};
}

}  // namespace hasten
