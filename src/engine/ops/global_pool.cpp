#include "engine/ops/global_pool.h"

#include <algorithm>

namespace hasten {

Status infer_global_pool(InferContext& c) {
  HASTEN_CHECK(check_dtype(c, 0, kFloats));
  const Facts& x = c.in(0);
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  if (x.rank() < 3) {
    return c.invalid("input {} has rank {}, it must be at least 3", shape_text(x.shape), x.rank());
  }
  Shape shape = x.shape;
  std::fill(shape.begin() + 2, shape.end(), Dim(1));
  c.set(0, x.dtype, std::move(shape));
  return {};
}

std::vector<size_t> image_axes(size_t rank) {
  std::vector<size_t> axes;
  for (size_t i = 2; i < rank; ++i) axes.push_back(i);
  return axes;
}

}  // namespace hasten
