// https://onnx.ai/onnx/operators/onnx__Shape.html and onnx__Size.html, opsets 1-21, of tensors of
// every dtype. Inference knows their elements, symbols included.
#include <algorithm>
#include <cstring>

#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

/// [begin, end) of the dims that Shape gives: start and end are clamped to the rank.
std::pair<size_t, size_t> slice_of(const OpContext& c, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  const auto clamp = [r](int64_t at) {
    return std::clamp<int64_t>(at < 0 && at >= -r ? at + r : at, 0, r);
  };
  const int64_t begin = clamp(c.node().attr_int("start", 0));
  const int64_t end = clamp(c.node().attr_int("end", r));
  return {static_cast<size_t>(begin), static_cast<size_t>(std::max(begin, end))};
}

Status infer_shape(InferContext& c) {
  const Facts& x = c.in(0);
  if (!x.has_shape) {
    c.set(0, DType::kI64, {Dim::fresh()});
    return {};
  }
  const auto [begin, end] = slice_of(c, x.rank());
  std::vector<int64_t> codes;
  for (size_t i = begin; i < end; ++i) codes.push_back(x.shape[i].code());
  const auto n = static_cast<int64_t>(codes.size());
  c.set(0, DType::kI64, {Dim(n)});
  c.out(0).value = Tensor::ints({n}, codes);
  return {};
}

Status reference_shape(RefContext& c) {
  const Dims& dims = c.in(0).dims;
  const auto [begin, end] = slice_of(c, dims.size());
  HASTEN_TRY(void* out, c.out(0, DType::kI64, {static_cast<int64_t>(end - begin)}));
  std::copy(dims.begin() + static_cast<ptrdiff_t>(begin),
            dims.begin() + static_cast<ptrdiff_t>(end), static_cast<int64_t*>(out));
  return {};
}

Status infer_size(InferContext& c) {
  const Facts& x = c.in(0);
  c.set(0, DType::kI64, {});
  if (!x.has_shape) return {};
  HASTEN_TRY(const Dim size, dim_product(c, x.shape));
  const int64_t code[] = {size.code()};
  c.out(0).value = Tensor::ints({}, code);
  return {};
}

Status reference_size(RefContext& c) {
  HASTEN_TRY(void* out, c.out(0, DType::kI64, {}));
  *static_cast<int64_t*>(out) = c.in(0).count();
  return {};
}

/// The answer is known before anything runs.
void take_ints(LowerContext& c, std::vector<int64_t> values) {
  c.take("constant", [values = std::move(values)](const StepArgs& s) {
    std::copy(values.begin(), values.end(), s.output<int64_t>(0));
  });
}

Status lower_shape(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const auto [begin, end] = slice_of(c, dims.size());
  take_ints(c, {dims.begin() + static_cast<ptrdiff_t>(begin),
                dims.begin() + static_cast<ptrdiff_t>(end)});
  return {};
}

Status lower_size(LowerContext& c) {
  take_ints(c, {count_of(c.in_dims(0))});
  return {};
}

}  // namespace

std::vector<OpDef> ops_shape() {
  OpDef shape{"", "Shape", 1, 14, 1, 1, 1, 1, {}, infer_shape, reference_shape, lower_shape};
  OpDef shape15 = shape;
  shape15.since = 15;
  shape15.until = kLastOpset;
  shape15.attrs = {"start", "end"};
  OpDef size{"", "Size", 1, kLastOpset, 1, 1, 1, 1, {}, infer_size, reference_size, lower_size};
  return {shape, shape15, size};
}

}  // namespace hasten
