// https://onnx.ai/onnx/operators/onnx__Split.html, opsets 2-21, every dtype. Sizes are an attribute
// before opset 13, an input since; without them the parts are equal, but for a smaller last one
// where num_outputs (opset 18) does not divide the axis.
#include <numeric>

#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

/// Sizes of the parts along an axis of `dim` elements; `given` null: equal ones.
Result<std::vector<int64_t>> part_sizes(const OpContext& c, int64_t dim,
                                        const std::vector<int64_t>* given) {
  const auto n = static_cast<int64_t>(c.outputs());
  if (given != nullptr) {
    if (static_cast<int64_t>(given->size()) != n) {
      return c.invalid("{} sizes for {} outputs", given->size(), n);
    }
    int64_t sum = 0;
    for (int64_t size : *given) {
      if (size < 0 || __builtin_add_overflow(sum, size, &sum)) {
        return c.invalid("sizes {} are not those of parts", dims_text(*given));
      }
    }
    if (sum != dim) {
      return c.invalid("sizes {} sum up to {}, the axis has {} elements", dims_text(*given), sum,
                       dim);
    }
    return *given;
  }
  if (c.node().version < 18 && dim % n != 0) {
    return c.invalid("an axis of {} elements does not split into {} equal parts", dim, n);
  }
  const int64_t size = (dim + n - 1) / n;
  std::vector<int64_t> sizes(static_cast<size_t>(n), size);
  sizes.back() = dim - size * (n - 1);
  if (sizes.back() < 0) {
    return c.invalid("an axis of {} elements does not split into {} parts of {}", dim, n, size);
  }
  return sizes;
}

Status check_num_outputs(const OpContext& c) {
  if (c.node().version < 18) return {};
  const bool has_count = c.node().find_attr("num_outputs") != nullptr;
  if (has_count == c.has_in(1)) {
    return c.invalid("{} 'split' and 'num_outputs', exactly one must be given",
                     has_count ? "both" : "neither");
  }
  const int64_t n = c.node().attr_int("num_outputs", 0);
  if (has_count && n != static_cast<int64_t>(c.outputs())) {
    return c.invalid("num_outputs is {}, but the node has {} outputs", n, c.outputs());
  }
  return {};
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_CHECK(check_num_outputs(c));
  const bool attribute = c.node().version < 13;
  const bool given = attribute ? c.node().find_attr("split") != nullptr : c.has_in(1);
  std::optional<std::vector<int64_t>> sizes;
  if (given) {
    if (!attribute) HASTEN_CHECK(check_int_list(c, c.in(1), "split", false));
    sizes = attribute ? c.node().attr_ints("split") : known_ints(c.in(1));
  }
  for (size_t i = 0; i < c.outputs(); ++i) c.set_unknown(i, x.dtype);
  if (!x.has_shape) return {};
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.rank()));
  const Dim dim = x.shape[axis];
  std::vector<Dim> parts(c.outputs());
  if (sizes && sizes->size() != c.outputs()) {
    return c.invalid("{} sizes for {} outputs", sizes->size(), c.outputs());
  }
  if (dim.known() && (sizes ? !has_symbols(*sizes) : !given)) {
    HASTEN_TRY(const std::vector<int64_t> known,
               part_sizes(c, dim.value(), sizes ? &*sizes : nullptr));
    for (size_t i = 0; i < parts.size(); ++i) parts[i] = Dim(known[i]);
  } else {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (sizes && (*sizes)[i] < 0 && !Dim::is_symbol_code((*sizes)[i])) {
        return c.invalid("size {} of part {} is negative", (*sizes)[i], i);
      }
      parts[i] = sizes                         ? Dim::from_code((*sizes)[i])
                 : !given && parts.size() == 1 ? dim
                                               : Dim::fresh();
    }
    // Equal parts stay equal.
    for (size_t i = 1; !given && c.node().version < 18 && i < parts.size(); ++i)
      parts[i] = parts[0];
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    Shape shape = x.shape;
    shape[axis] = parts[i];
    c.set(i, x.dtype, std::move(shape));
  }
  return {};
}

/// `count` elements of the axis from `begin`.
StridedBlock part_block(const Dims& in, size_t axis, int64_t begin, int64_t count) {
  StridedBlock block{in, row_major_strides(in), {}};
  block.dims[axis] = count;
  block.out_strides = row_major_strides(block.dims);
  block.in_start = begin * block.in_strides[axis];
  return block;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.dims.size()));
  const bool attribute = c.node().version < 13;
  const bool given = attribute ? c.node().find_attr("split") != nullptr : c.has_in(1);
  std::vector<int64_t> list;
  if (given) list = attribute ? c.node().attr_ints("split") : read_ints(c.in(1));
  HASTEN_TRY(const std::vector<int64_t> sizes,
             part_sizes(c, x.dims[axis], given ? &list : nullptr));
  int64_t begin = 0;
  for (size_t i = 0; i < c.outputs(); ++i) {
    const StridedBlock block = part_block(x.dims, axis, begin, sizes[i]);
    begin += sizes[i];
    if (!c.has_out(i)) continue;
    HASTEN_TRY(void* out, c.out(i, x.dtype, block.dims));
    copy_block(x.dtype, x.data, out, block);
  }
  return {};
}

Status lower(LowerContext& c) {
  const Facts& x = c.in(0);
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", 0), x.rank()));
  if (x.layout == Layout::kPlain && !plain_numbers(c, "copy")) return {};
  const StoredDims stored = storage_of(x);
  CopyPlan plan;
  int64_t begin = 0;
  for (size_t i = 0; i < c.outputs(); ++i) {
    const Facts& part = c.out(i);
    if (part.layout != x.layout && c.has_out(i)) {
      c.refuse("copy", fmt::format("output {} has another layout than the input", i));
      return {};
    }
    if (!part.known_shape()) {
      c.refuse("copy", fmt::format("the size of output {} is not known", i));
      return {};
    }
    if (x.layout == Layout::kNchw16c && axis == 1 && i + 1 < c.outputs() &&
        part.shape[1].value() % 16 != 0) {
      c.refuse("copy", fmt::format("output {} ends within a block of channels", i));
      return {};
    }
    Facts as_input = part;
    as_input.layout = x.layout;
    const int64_t count = storage_of(as_input).dims[axis];
    if (c.has_out(i)) {
      plan.add(0, i, part_block(stored.dims, axis, begin, count), stored.element_bytes);
    }
    begin += count;
  }
  plan.lower(c);
  return {};
}

}  // namespace

std::vector<OpDef> ops_split() {
  OpDef attribute{"", "Split", 2, 12, 1, 1, 1, -1, {"axis", "split"}, infer, reference, lower};
  attribute.moves_elements = true;
  OpDef input{"", "Split", 13, 17, 1, 2, 1, -1, {"axis"}, infer, reference, lower};
  input.moves_elements = true;
  OpDef counted = input;
  counted.since = 18;
  counted.until = kLastOpset;
  counted.attrs = {"axis", "num_outputs"};
  return {attribute, input, counted};
}

}  // namespace hasten
