#include "engine/ops/elementwise.h"

namespace hasten {

Dims broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> out) {
  Dims strides(out.size(), 0);
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[out.size() - dims.size() + i] = dims[i] == 1 ? 0 : stride;
    stride *= dims[i];
  }
  return strides;
}

Result<Dims> broadcast_dims(std::span<const int64_t> a, std::span<const int64_t> b) {
  HASTEN_TRY(const Shape shape, broadcast(to_shape(a), to_shape(b)));
  return to_dims(shape);
}

Status infer_binary(InferContext& c, DType out_dtype) {
  const Facts &a = c.in(0), &b = c.in(1);
  if (a.dtype != b.dtype && a.dtype != DType::kNone && b.dtype != DType::kNone) {
    return c.invalid("inputs have dtypes {} and {}, they must be the same", dtype_name(a.dtype),
                     dtype_name(b.dtype));
  }
  const DType dtype = out_dtype != DType::kNone ? out_dtype : a.dtype;
  if (!a.has_shape || !b.has_shape) {
    c.set_unknown(0, dtype);
    return {};
  }
  auto shape = broadcast(a.shape, b.shape);
  if (!shape) return c.invalid("{}", shape.error().message);
  c.set(0, dtype, std::move(*shape));
  return {};
}

Status infer_unary(InferContext& c) {
  const Facts& x = c.in(0);
  if (x.has_shape) {
    c.set(0, x.dtype, x.shape);
  } else {
    c.set_unknown(0, x.dtype);
  }
  return {};
}

}  // namespace hasten
