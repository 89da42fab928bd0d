// https://onnx.ai/onnx/operators/onnx__GlobalAveragePool.html, opsets 1-21, floats.
#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

namespace {

std::vector<size_t> image_axes(size_t rank) {
  std::vector<size_t> axes;
  for (size_t i = 2; i < rank; ++i) axes.push_back(i);
  return axes;
}

Status infer(InferContext& c) {
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

Status reference(RefContext& c) {
  Dims dims = c.in(0).dims;
  std::fill(dims.begin() + 2, dims.end(), 1);
  return reference_reduction(c, Reduction::kMean, image_axes(dims.size()), dims);
}

Status lower(LowerContext& c) {
  return lower_reduction(c, Reduction::kMean, image_axes(c.in(0).rank()));
}

}  // namespace

std::vector<OpDef> ops_global_average_pool() {
  return {{"", "GlobalAveragePool", 1, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
