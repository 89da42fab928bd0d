// https://onnx.ai/onnx/operators/onnx__CenterCropPad.html, opsets 18-21, every dtype.
#include <array>
#include <numeric>

#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Result<std::vector<size_t>> axes_of(const OpContext& c, size_t rank) {
  if (c.node().find_attr("axes") != nullptr) {
    return resolve_axes(c, c.node().attr_ints("axes"), rank);
  }
  std::vector<size_t> all(rank);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

Result<Shape> target(const OpContext& c, Shape shape, const std::vector<int64_t>& sizes) {
  HASTEN_TRY(const std::vector<size_t> axes, axes_of(c, shape.size()));
  if (sizes.size() != axes.size()) {
    return c.invalid("shape has {} numbers for {} axes", sizes.size(), axes.size());
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0 && !Dim::is_symbol_code(sizes[i])) {
      return c.invalid("shape is {}, it has a negative number", dims_text(sizes));
    }
    shape[axes[i]] = Dim::from_code(sizes[i]);
  }
  if (is_known(shape)) {
    if (auto count = checked_count(to_dims(shape)); !count) {
      return c.invalid("{}", count.error().message);
    }
  }
  return shape;
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &sizes = c.in(1);
  HASTEN_CHECK(check_int_list(c, sizes, "shape"));
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  HASTEN_TRY(const std::vector<size_t> axes, axes_of(c, x.rank()));
  if (const auto n = list_length(sizes); n && *n != static_cast<int64_t>(axes.size())) {
    return c.invalid("shape has {} numbers for {} axes", *n, axes.size());
  }
  if (const auto known = known_ints(sizes)) {
    HASTEN_TRY(Shape out, target(c, x.shape, *known));
    c.set(0, x.dtype, std::move(out));
    return {};
  }
  Shape out = x.shape;
  for (const size_t axis : axes) out[axis] = Dim::fresh();
  c.set(0, x.dtype, std::move(out));
  return {};
}

std::vector<AxisMap> centred_maps(const Dims& in, const Dims& out) {
  std::vector<AxisMap> maps;
  for (size_t d = 0; d < in.size(); ++d) {
    // Halves are rounded down on both ways.
    const int64_t skip = in[d] > out[d] ? (in[d] - out[d]) / 2 : -((out[d] - in[d]) / 2);
    AxisMap map(static_cast<size_t>(out[d]));
    for (int64_t i = 0; i < out[d]; ++i) {
      const int64_t from = i + skip;
      map[static_cast<size_t>(i)] = from >= 0 && from < in[d] ? from : kFill;
    }
    maps.push_back(std::move(map));
  }
  return maps;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const Shape shape, target(c, to_shape(x.dims), read_ints(c.in(1))));
  const Dims out = to_dims(shape);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, out));
  if (count_of(out) == 0) return {};
  static const std::string kNothing;
  constexpr std::array<char, 8> kZero{};
  const void* fill = x.dtype == DType::kString ? static_cast<const void*>(&kNothing) : kZero.data();
  map_block(x.dtype, x.data, x.dims, centred_maps(x.dims, out), fill, memory);
  return {};
}

Status lower(LowerContext& c) {
  if (!plain_numbers(c, "map_axes")) return {};
  const Dims in = c.in_dims(0), out = c.out_dims(0);
  if (count_of(out) == 0) {
    c.refuse("map_axes", "no elements");
    return {};
  }
  constexpr int64_t kTableLimit = int64_t{1} << 24;
  for (const int64_t size : out) {
    if (size > kTableLimit) {
      c.refuse("map_axes", fmt::format("an axis of {} elements", size));
      return {};
    }
  }
  constexpr std::array<char, 8> kZero{};
  lower_map(c, storage_of(c.in(0)), centred_maps(in, out), kZero.data());
  return {};
}

}  // namespace

std::vector<OpDef> ops_center_crop_pad() {
  return {{"", "CenterCropPad", 18, kLastOpset, 2, 2, 1, 1, {"axes"}, infer, reference, lower}};
}

}  // namespace hasten
