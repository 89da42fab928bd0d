// https://onnx.ai/onnx/operators/onnx__SplitToSequence.html, opsets 11-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &split = c.in(1);
  if (x.dtype == DType::kSequence || x.dtype == DType::kOptional) {
    return c.invalid("input 0 is {}, it must be a tensor", x.text());
  }
  if (split.dtype != DType::kNone && split.dtype != DType::kI32 && split.dtype != DType::kI64) {
    return c.invalid("split is {}, it must be int32 or int64", split.text());
  }
  if (split.has_shape && split.rank() > 1) {
    return c.invalid("split is {}, it must be a number or a list", split.text());
  }
  const int64_t axis = c.node().attr_int("axis", 0);
  if (x.has_shape) {
    const auto rank = static_cast<int64_t>(x.rank());
    if (axis < -rank || axis >= rank) return c.invalid("axis {} of {}", axis, x.text());
  }
  set_sequence(c, x.dtype, Dim::fresh());
  return {};
}

/// How many indices of the axis each part gets.
Result<std::vector<int64_t>> parts(const RefContext& c, int64_t n) {
  if (!c.has_in(1)) return std::vector<int64_t>(static_cast<size_t>(n), 1);
  const TensorView& split = c.in(1);
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < split.count(); ++i) {
    sizes.push_back(split.dtype == DType::kI32 ? split.as<int32_t>()[i] : split.as<int64_t>()[i]);
  }
  if (!split.dims.empty()) {
    int64_t left = n;
    for (const int64_t size : sizes) {
      if (size < 0 || size > left) return c.invalid("split {} does not add up to {}", size, n);
      left -= size;
    }
    if (left != 0) return c.invalid("split adds up to {}, the axis has {}", n - left, n);
    return sizes;
  }
  const int64_t each = sizes[0];
  if (each < 1) return c.invalid("split {}, it must be at least 1", each);
  sizes.clear();
  for (int64_t begin = 0; begin < n; begin += std::min(each, n - begin)) {
    sizes.push_back(std::min(each, n - begin));
  }
  return sizes;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  int64_t axis = c.node().attr_int("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(x.dims.size());
  const auto a = static_cast<size_t>(axis);
  HASTEN_TRY(const std::vector<int64_t> sizes, parts(c, x.dims[a]));
  const bool drop = !c.has_in(1) && c.node().attr_int("keepdims", 1) == 0;
  HASTEN_TRY(void* out, c.out(0, DType::kSequence, {static_cast<int64_t>(sizes.size())}));
  const int64_t outer = count_of({x.dims.begin(), x.dims.begin() + axis});
  const int64_t inner = count_of({x.dims.begin() + axis + 1, x.dims.end()});
  const auto size = static_cast<int64_t>(dtype_size(x.dtype));
  int64_t begin = 0;
  for (size_t p = 0; p < sizes.size(); ++p) {
    Dims dims = x.dims;
    dims[a] = sizes[p];
    if (drop) dims.erase(dims.begin() + axis);
    HASTEN_TRY(Tensor part, Tensor::make(x.dtype, dims));
    const int64_t run = sizes[p] * inner;
    for (int64_t o = 0; o < outer; ++o) {
      copy_elements(x.dtype, x.as<std::byte>() + (o * x.dims[a] + begin) * inner * size,
                    part.mutable_as<std::byte>() + o * run * size, run);
    }
    begin += sizes[p];
    static_cast<Tensor*>(out)[p] = std::move(part);
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_split_to_sequence() {
  return {
      sequence_op("SplitToSequence", 11, kLastOpset, 1, 2, {"axis", "keepdims"}, infer, reference)};
}

}  // namespace hasten
