// https://onnx.ai/onnx/operators/onnx__Compress.html, opsets 9-21, every dtype. How much is left
// depends on the condition; what it has beyond the axis is ignored.
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

std::vector<int64_t> kept(const TensorView& condition, int64_t dim) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < std::min(dim, condition.count()); ++i) {
    if (condition.as<bool>()[i]) out.push_back(i);
  }
  return out;
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &condition = c.in(1);
  if (condition.dtype != DType::kBool && condition.dtype != DType::kNone) {
    return c.invalid("the condition is {}, it must be bool", condition.text());
  }
  if (condition.has_shape && condition.rank() != 1) {
    return c.invalid("the condition is {}, it must be 1-D", condition.text());
  }
  const bool flat = c.node().find_attr("axis") == nullptr;
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    if (flat) c.set(0, x.dtype, {Dim::fresh()});
    return {};
  }
  size_t axis = 0;
  if (!flat) {
    HASTEN_TRY(axis, resolve_axis(c, c.node().attr_int("axis", 0), x.rank()));
  }
  Shape out = x.shape;
  if (flat) {
    HASTEN_TRY(const Dim all, dim_product(c, x.shape));
    out = {all};
  }
  if (condition.known_value() && out[axis].known()) {
    const auto kept_now = kept(condition.value.view(), out[axis].value());
    out[axis] = Dim(static_cast<int64_t>(kept_now.size()));
  } else {
    out[axis] = Dim::fresh();
  }
  c.set(0, x.dtype, std::move(out));
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const bool flat = c.node().find_attr("axis") == nullptr;
  Dims dims = flat ? Dims{x.count()} : x.dims;
  size_t axis = 0;
  if (!flat) {
    HASTEN_TRY(axis, resolve_axis(c, c.node().attr_int("axis", 0), x.dims.size()));
  }
  std::vector<AxisMap> maps;
  for (int64_t d : dims) maps.push_back(identity_map(d));
  maps[axis] = kept(c.in(1), dims[axis]);
  Dims out_dims = dims;
  out_dims[axis] = static_cast<int64_t>(maps[axis].size());
  HASTEN_TRY(void* out, c.out(0, x.dtype, out_dims));
  map_block(x.dtype, x.data, dims, maps, nullptr, out);
  return {};
}

}  // namespace

std::vector<OpDef> ops_compress() {
  return {{"", "Compress", 9, kLastOpset, 2, 2, 1, 1, {"axis"}, infer, reference}};
}

}  // namespace hasten
