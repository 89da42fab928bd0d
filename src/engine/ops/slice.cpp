// https://onnx.ai/onnx/operators/onnx__Slice.html, opsets 1-21, every dtype. Starts, ends, axes and
// steps are attributes before opset 10, inputs since.
#include <algorithm>

#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

using Ints = std::vector<int64_t>;

/// The operands; nullopt where an input's value is not known.
struct Operands {
  std::optional<Ints> starts, ends, axes, steps;
  bool default_axes = false;
};

/// One axis of a concrete slice: elements start, start + step, …
struct Range {
  int64_t start = 0, step = 1, count = 0;
};

/// Which elements of an axis of `dim` elements lie in [start, end) by `step`; no sum overflows.
Range resolve_range(int64_t dim, int64_t start, int64_t end, int64_t step) {
  const auto from_front = [dim](int64_t at) { return at < 0 ? at + dim : at; };
  Range r{0, step, 0};
  if (dim == 0) return r;
  if (step > 0) {
    r.start = std::clamp<int64_t>(from_front(start), 0, dim);
    const int64_t stop = std::clamp<int64_t>(from_front(end), 0, dim);
    if (stop > r.start) r.count = (stop - r.start - 1) / step + 1;
  } else {
    // The specification has 0, not -1 as numpy: a start before the first element takes that one.
    r.start = std::clamp<int64_t>(from_front(start), 0, dim - 1);
    const int64_t stop = std::clamp<int64_t>(from_front(end), -1, dim - 1);
    // The magnitude of INT64_MIN fits in the unsigned type only.
    const uint64_t stride = -static_cast<uint64_t>(step);
    if (stop < r.start) {
      r.count = static_cast<int64_t>(static_cast<uint64_t>(r.start - stop - 1) / stride) + 1;
    }
  }
  if (r.count <= 1) r.step = 1;  // never taken, so that offsets can't overflow
  return r;
}

Status check_lengths(const OpContext& c, const Operands& o, size_t rank) {
  const auto length = [](const std::optional<Ints>& list) { return list ? list->size() : 0; };
  const size_t n = o.starts ? length(o.starts) : o.ends ? length(o.ends) : 0;
  const auto same = [&](const std::optional<Ints>& list) { return !list || list->size() == n; };
  if (o.starts && o.ends && !same(o.ends)) {
    return c.invalid("{} starts and {} ends", n, o.ends->size());
  }
  if ((o.starts || o.ends) && !o.default_axes && !same(o.axes)) {
    return c.invalid("{} starts and {} axes", n, o.axes->size());
  }
  if ((o.starts || o.ends) && !same(o.steps)) {
    return c.invalid("{} starts and {} steps", n, o.steps->size());
  }
  if (o.default_axes && n > rank) {
    return c.invalid("{} starts for an input of rank {}", n, rank);
  }
  if (o.steps && std::find(o.steps->begin(), o.steps->end(), 0) != o.steps->end()) {
    return c.invalid("steps {} contain 0", dims_text(*o.steps));
  }
  return {};
}

/// Axis j of the slice, counted from the front of the input.
Result<std::vector<size_t>> sliced_axes(const OpContext& c, const Operands& o, size_t rank,
                                        size_t n) {
  if (!o.default_axes) return resolve_axes(c, *o.axes, rank);
  std::vector<size_t> axes(n);
  for (size_t i = 0; i < n; ++i) axes[i] = i;
  return axes;
}

Operands attributes_of(const OpContext& c) {
  Operands o;
  o.starts = c.node().attr_ints("starts");
  o.ends = c.node().attr_ints("ends");
  o.default_axes = c.node().find_attr("axes") == nullptr;
  if (!o.default_axes) o.axes = c.node().attr_ints("axes");
  return o;
}

/// From the facts of inputs, at inference and lowering.
template <class Context>
Operands known_operands(const Context& c) {
  if (c.node().version < 10) return attributes_of(c);
  Operands o;
  o.starts = known_ints(c.in(1));
  o.ends = known_ints(c.in(2));
  o.default_axes = !c.has_in(3);
  if (!o.default_axes) o.axes = known_ints(c.in(3));
  if (c.has_in(4)) o.steps = known_ints(c.in(4));
  return o;
}

/// The range of each axis of the input.
Result<std::vector<Range>> resolve(const OpContext& c, const Dims& dims, const Operands& o) {
  HASTEN_CHECK(check_lengths(c, o, dims.size()));
  const size_t n = o.starts->size();
  HASTEN_TRY(const std::vector<size_t> axes, sliced_axes(c, o, dims.size(), n));
  std::vector<Range> ranges;
  for (int64_t d : dims) ranges.push_back({0, 1, d});
  for (size_t j = 0; j < n; ++j) {
    ranges[axes[j]] =
        resolve_range(dims[axes[j]], (*o.starts)[j], (*o.ends)[j], o.steps ? (*o.steps)[j] : 1);
  }
  return ranges;
}

StridedBlock sliced(const Dims& dims, const std::vector<Range>& ranges) {
  StridedBlock block;
  block.in_strides = row_major_strides(dims);
  for (size_t d = 0; d < dims.size(); ++d) {
    block.dims.push_back(ranges[d].count);
    // Where an axis is empty there is nothing to start at.
    if (ranges[d].count > 0) block.in_start += ranges[d].start * block.in_strides[d];
    block.in_strides[d] *= ranges[d].step;
  }
  block.out_strides = row_major_strides(block.dims);
  return block;
}

/// The sliced dim while it, or an operand, may be a symbol.
Dim sliced_dim(Dim dim, int64_t start, int64_t end, int64_t step) {
  constexpr int64_t kFar = INT32_MAX;  // "to the end", as exporters write it
  const int64_t operands[] = {start, end, step};
  if (has_symbols(operands)) {
    const bool whole = start == 0 && step == 1 && Dim::from_code(end) == dim;
    return whole ? dim : Dim::fresh();
  }
  if (dim.known()) return Dim(resolve_range(dim.value(), start, end, step).count);
  if (start == 0 && end >= kFar && step == 1) return dim;
  if (start == -1 && end <= -kFar && step == -1) return dim;
  return Dim::fresh();
}

Status check_operands(InferContext& c) {
  if (c.node().version < 10) {
    for (const char* name : {"starts", "ends"}) {
      if (c.node().find_attr(name) == nullptr) return c.invalid("attribute '{}' is missing", name);
    }
    return {};
  }
  static constexpr const char* kNames[] = {"data", "starts", "ends", "axes", "steps"};
  for (size_t i = 1; i < 5; ++i) HASTEN_CHECK(check_int_list(c, c.in(i), kNames[i]));
  for (size_t i = 1; i < 3; ++i) {
    if (!c.has_in(i)) return c.invalid("{} are missing", kNames[i]);
  }
  return {};
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_CHECK(check_operands(c));
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  const Operands o = known_operands(c);
  HASTEN_CHECK(check_lengths(c, o, x.rank()));
  // How many axes are cut, if any operand tells.
  std::optional<size_t> n;
  for (const std::optional<Ints>* list : {&o.starts, &o.ends, &o.axes, &o.steps}) {
    if (*list && !n) n = (*list)->size();
  }
  for (size_t i = 1; i < 5 && c.node().version >= 10; ++i) {
    if (const auto length = list_length(c.in(i)); length && !n) n = static_cast<size_t>(*length);
  }
  if (!n || (!o.default_axes && !o.axes)) {
    c.set(0, x.dtype, fresh_shape(x.rank()));
    return {};
  }
  if (*n > x.rank()) return c.invalid("{} starts for an input of rank {}", *n, x.rank());
  HASTEN_TRY(const std::vector<size_t> axes, sliced_axes(c, o, x.rank(), *n));
  Shape out = x.shape;
  for (size_t j = 0; j < axes.size(); ++j) {
    Dim& dim = out[axes[j]];
    const bool all_known = o.starts && o.ends && (o.steps || !c.has_in(4));
    dim = all_known ? sliced_dim(dim, (*o.starts)[j], (*o.ends)[j], o.steps ? (*o.steps)[j] : 1)
                    : Dim::fresh();
  }
  c.set(0, x.dtype, std::move(out));
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  Operands o;
  if (c.node().version < 10) {
    o = attributes_of(c);
  } else {
    o.starts = read_ints(c.in(1));
    o.ends = read_ints(c.in(2));
    o.default_axes = !c.has_in(3);
    if (!o.default_axes) o.axes = read_ints(c.in(3));
    if (c.has_in(4)) o.steps = read_ints(c.in(4));
  }
  for (const std::optional<Ints>* list : {&o.starts, &o.ends, &o.steps}) {
    if (*list && has_symbols(**list)) return c.unsupported("bounds that are not numbers yet");
  }
  HASTEN_TRY(const std::vector<Range> ranges, resolve(c, x.dims, o));
  const StridedBlock block = sliced(x.dims, ranges);
  HASTEN_TRY(void* out, c.out(0, x.dtype, block.dims));
  copy_block(x.dtype, x.data, out, block);
  return {};
}

Status lower(LowerContext& c) {
  const Operands o = known_operands(c);
  if (!o.starts || !o.ends || (!o.default_axes && !o.axes) || (c.has_in(4) && !o.steps)) {
    c.refuse("copy", "bounds known only at run time");
    return {};
  }
  const Facts& x = c.in(0);
  if (x.layout != c.out(0).layout || x.dtype == DType::kString) {
    c.refuse("copy", x.dtype == DType::kString ? "strings" : "another layout than the output");
    return {};
  }
  HASTEN_TRY(std::vector<Range> ranges, resolve(c, to_dims(x.shape), o));
  const StoredDims from = storage_of(x);
  if (x.layout == Layout::kNchw16c) {
    Range& channels = ranges[1];
    const int64_t all = x.shape[1].value();
    const bool to_the_end = channels.start + channels.count == all;
    if (channels.step != 1 || channels.start % 16 != 0 ||
        (channels.count % 16 != 0 && !to_the_end)) {
      c.refuse("copy", "cuts a block of channels");
      return {};
    }
    channels = {channels.start / 16, 1, (channels.count + 15) / 16};
  }
  const StridedBlock block = sliced(from.dims, ranges);
  if (block.dims == from.dims &&
      std::all_of(ranges.begin(), ranges.end(), [](const Range& r) { return r.step == 1; })) {
    c.alias(0);
    return {};
  }
  CopyPlan plan;
  plan.add(0, 0, block, from.element_bytes);
  plan.lower(c);
  return {};
}

}  // namespace

std::vector<OpDef> ops_slice() {
  OpDef old{"", "Slice", 1, 9, 1, 1, 1, 1, {"starts", "ends", "axes"}, infer, reference, lower};
  old.moves_elements = true;
  OpDef now{"", "Slice", 10, kLastOpset, 3, 5, 1, 1, {}, infer, reference, lower};
  now.moves_elements = true;
  return {old, now};
}

}  // namespace hasten
