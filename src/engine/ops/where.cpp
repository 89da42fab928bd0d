// https://onnx.ai/onnx/operators/onnx__Where.html, opsets 9-21, all dtypes.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtype(c, 0, kBools));
  HASTEN_CHECK(check_same_dtype(c, 1));
  const DType dtype = common_dtype(c, 1);
  Shape shape;
  for (size_t i = 0; i < 3; ++i) {
    if (!c.in(i).has_shape) {
      c.set_unknown(0, dtype);
      return {};
    }
    auto wider = broadcast(shape, c.in(i).shape);
    if (!wider) return c.invalid("{}", wider.error().message);
    shape = std::move(*wider);
  }
  c.set(0, dtype, std::move(shape));
  return {};
}

Status reference(RefContext& c) {
  const TensorView &condition = c.in(0), &x = c.in(1), &y = c.in(2);
  HASTEN_TRY(Dims dims, broadcast_dims(condition.dims, x.dims));
  HASTEN_TRY(dims, broadcast_dims(dims, y.dims));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, dims));
  // Which operand first, then the elements: for_each_broadcast walks two operands.
  std::vector<int64_t> truth(static_cast<size_t>(count_of(dims)));
  const Dims strides = broadcast_strides(condition.dims, dims);
  for_each_broadcast(dims, strides, strides, [&](int64_t i, int64_t at, int64_t) {
    truth[static_cast<size_t>(i)] = condition.as<bool>()[at];
  });
  dispatch_any(x.dtype, [&](auto t) {
    using T = decltype(t);
    for_each_broadcast(dims, broadcast_strides(x.dims, dims), broadcast_strides(y.dims, dims),
                       [&](int64_t i, int64_t at_x, int64_t at_y) {
                         static_cast<T*>(memory)[i] =
                             truth[static_cast<size_t>(i)] ? x.as<T>()[at_x] : y.as<T>()[at_y];
                       });
  });
  return {};
}

Status lower(LowerContext& c) {
  const KernelTable& k = c.kernels();
  return lower_broadcast(c,
                         {{DType::kF32, "where_32", k.where_32},
                          {DType::kI32, "where_32", k.where_32},
                          {DType::kU32, "where_32", k.where_32},
                          {DType::kI64, "where_64", k.where_64},
                          {DType::kU64, "where_64", k.where_64},
                          {DType::kF64, "where_64", k.where_64},
                          {DType::kF16, "where_16", k.where_16},
                          {DType::kBF16, "where_16", k.where_16},
                          {DType::kI16, "where_16", k.where_16},
                          {DType::kU16, "where_16", k.where_16},
                          {DType::kI8, "where_8", k.where_8},
                          {DType::kU8, "where_8", k.where_8},
                          {DType::kBool, "where_8", k.where_8}},
                         3, 1);
}

}  // namespace

std::vector<OpDef> ops_where() {
  OpDef def{"", "Where", 9, kLastOpset, 3, 3, 1, 1, {}, infer, reference, lower};
  def.moves_elements = true;
  return {def};
}

}  // namespace hasten
