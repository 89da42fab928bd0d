// https://onnx.ai/onnx/operators/onnx__ConcatFromSequence.html, opsets 11-21.
#include "engine/ops/op.h"
#include "engine/ops/sequences.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(check_sequence(c, 0));
  if (c.node().find_attr("axis") == nullptr) return c.invalid("attribute 'axis' is missing");
  c.set_unknown(0, c.in(0).element);
  return {};
}

Status reference(RefContext& c) {
  const auto parts = tensors_of(c.in(0));
  if (parts.empty()) return c.invalid("the sequence is empty: there is nothing to concatenate");
  const bool new_axis = c.node().attr_int("new_axis", 0) != 0;
  Dims dims = parts[0].dims();
  const auto rank = static_cast<int64_t>(dims.size()) + (new_axis ? 1 : 0);
  int64_t axis = c.node().attr_int("axis", 0);
  if (axis < -rank || axis >= rank) {
    return c.invalid("axis {} of tensors that give rank {}", axis, rank);
  }
  if (axis < 0) axis += rank;
  if (new_axis) dims.insert(dims.begin() + axis, 1);
  const Dims one = dims;
  const auto a = static_cast<size_t>(axis);
  dims[a] = 0;
  std::vector<int64_t> along;
  for (const Tensor& part : parts) {
    Dims d = part.dims();
    if (new_axis && static_cast<int64_t>(d.size()) + 1 == rank) d.insert(d.begin() + axis, 1);
    bool fits = static_cast<int64_t>(d.size()) == rank && part.dtype() == parts[0].dtype();
    for (size_t i = 0; fits && i < d.size(); ++i) fits = i == a || d[i] == one[i];
    if (!fits || (new_axis && part.dims() != parts[0].dims())) {
      return c.invalid("tensors {}{} and {}{} do not fit along axis {}",
                       dtype_name(parts[0].dtype()), dims_text(parts[0].dims()),
                       dtype_name(part.dtype()), dims_text(part.dims()), axis);
    }
    along.push_back(d[a]);
    dims[a] += d[a];
  }
  HASTEN_TRY(void* out, c.out(0, parts[0].dtype(), dims));
  const int64_t outer = count_of({dims.begin(), dims.begin() + axis});
  const int64_t inner = count_of({dims.begin() + axis + 1, dims.end()});
  const auto size = static_cast<int64_t>(dtype_size(parts[0].dtype()));
  int64_t begin = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    const int64_t run = along[p] * inner;
    for (int64_t o = 0; o < outer; ++o) {
      copy_elements(parts[p].dtype(), parts[p].as<std::byte>() + o * run * size,
                    static_cast<std::byte*>(out) + (o * dims[a] + begin) * inner * size, run);
    }
    begin += along[p];
  }
  return {};
}

}  // namespace

std::vector<OpDef> ops_concat_from_sequence() {
  return {sequence_op("ConcatFromSequence", 11, kLastOpset, 1, 1, {"axis", "new_axis"}, infer,
                      reference)};
}

}  // namespace hasten
