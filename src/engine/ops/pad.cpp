// https://onnx.ai/onnx/operators/onnx__Pad.html, opsets 2-21, every dtype. Pads are an attribute
// before opset 11, an input since; negative ones cut, before anything is added.
#include <array>
#include <cstring>

#include "engine/ops/moves.h"
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

enum class Mode { kConstant, kReflect, kEdge, kWrap };

Result<Mode> mode_of(const OpContext& c) {
  const std::string mode = c.node().attr_string("mode", "constant");
  if (mode == "constant") return Mode::kConstant;
  if (mode == "reflect") return Mode::kReflect;
  if (mode == "edge") return Mode::kEdge;
  if (mode == "wrap" && c.node().version >= 19) return Mode::kWrap;
  return c.invalid("attribute 'mode' is '{}', which is none of its values", mode);
}

/// What is added before and after an axis.
struct Pads {
  int64_t before = 0, after = 0;
  bool symbolic = false;
};

/// Pads of each axis; `axes` null: all.
Result<std::vector<Pads>> pads_per_axis(const OpContext& c, std::span<const int64_t> pads,
                                        const std::vector<int64_t>* axes, size_t rank) {
  std::vector<size_t> which(rank);
  for (size_t i = 0; i < rank; ++i) which[i] = i;
  if (axes != nullptr) {
    HASTEN_TRY(which, resolve_axes(c, *axes, rank));
  }
  const size_t n = which.size();
  if (pads.size() != 2 * n) {
    return c.invalid("{} pads for {} axes, there must be {}", pads.size(), n, 2 * n);
  }
  std::vector<Pads> out(rank);
  for (size_t i = 0; i < n; ++i) {
    const int64_t both[] = {pads[i], pads[i + n]};
    out[which[i]] = {both[0], both[1], has_symbols(both)};
  }
  return out;
}

/// The padded size of an axis.
Result<int64_t> padded_size(const OpContext& c, int64_t dim, const Pads& p) {
  int64_t size = 0;
  if (__builtin_add_overflow(dim, p.before, &size) ||
      __builtin_add_overflow(size, p.after, &size) || size < 0) {
    return c.invalid("pads {} and {} of an axis of {} elements leave no size", p.before, p.after,
                     dim);
  }
  return size;
}

/// Source of each element of a padded axis of `size` elements.
Result<AxisMap> padded_map(const OpContext& c, int64_t dim, const Pads& p, int64_t size,
                           Mode mode) {
  // What is left of the axis after negative pads have cut it.
  const int64_t first = std::min(dim, std::max<int64_t>(0, -p.before));
  const int64_t left = std::max<int64_t>(0, dim - first - std::max<int64_t>(0, -p.after));
  const int64_t before = std::max<int64_t>(0, p.before);
  AxisMap map(static_cast<size_t>(size), kFill);
  if (mode != Mode::kConstant && left == 0 && size > 0) {
    return c.invalid("nothing left to repeat of an axis of {} elements padded by {} and {}", dim,
                     p.before, p.after);
  }
  for (int64_t i = 0; i < size; ++i) {
    int64_t at = i - before;
    if (mode == Mode::kEdge) {
      at = std::clamp<int64_t>(at, 0, left - 1);
    } else if (mode == Mode::kWrap) {
      at = (at % left + left) % left;
    } else if (mode == Mode::kReflect) {
      const int64_t period = std::max<int64_t>(1, 2 * (left - 1));
      at = (at % period + period) % period;
      if (at >= left) at = period - at;
    }
    if (at >= 0 && at < left) map[static_cast<size_t>(i)] = first + at;
  }
  return map;
}

/// Facts of pads and axes; pads empty if not known.
struct Known {
  std::optional<std::vector<int64_t>> pads, axes;
  bool has_axes = false;
  bool all() const { return pads && (!has_axes || axes); }
};

template <class Context>
Known known_operands(const Context& c) {
  if (c.node().version < 11) return {c.node().attr_ints("pads"), std::nullopt, false};
  Known k;
  k.pads = known_ints(c.in(1));
  k.has_axes = c.has_in(3);
  if (k.has_axes) k.axes = known_ints(c.in(3));
  return k;
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_TRY(const Mode mode, mode_of(c));
  if (c.node().version < 11 && c.node().find_attr("pads") == nullptr) {
    return c.invalid("attribute 'pads' is missing");
  }
  if (c.node().version >= 11) {
    HASTEN_CHECK(check_int_list(c, c.in(1), "pads", false));
    HASTEN_CHECK(check_int_list(c, c.in(3), "axes"));
    const Facts& value = c.in(2);
    if (value.dtype != DType::kNone && x.dtype != DType::kNone && value.dtype != x.dtype) {
      return c.invalid("constant_value is {}, the input is {}", dtype_name(value.dtype),
                       dtype_name(x.dtype));
    }
    if (value.known_shape() && count_of(to_dims(value.shape)) != 1) {
      return c.invalid("constant_value has the shape {}, it must be one element",
                       shape_text(value.shape));
    }
  }
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  const Known known = known_operands(c);
  if (!known.all()) {
    c.set(0, x.dtype, fresh_shape(x.rank()));
    return {};
  }
  HASTEN_TRY(const std::vector<Pads> pads,
             pads_per_axis(c, *known.pads, known.has_axes ? &*known.axes : nullptr, x.rank()));
  Shape out = x.shape;
  for (size_t d = 0; d < out.size(); ++d) {
    const Pads& p = pads[d];
    const bool padded = p.before != 0 || p.after != 0;
    if (p.symbolic || (padded && !out[d].known())) {
      out[d] = Dim::fresh();
    } else if (out[d].known()) {
      const int64_t dim = out[d].value();
      HASTEN_TRY(const int64_t size, padded_size(c, dim, p));
      out[d] = Dim(size);
      if (mode != Mode::kConstant && size > 0 &&
          dim <= std::max<int64_t>(0, -p.before) + std::max<int64_t>(0, -p.after)) {
        return c.invalid("nothing left to repeat of axis {} ({} elements) padded by {} and {}", d,
                         dim, p.before, p.after);
      }
    }
  }
  c.set(0, x.dtype, std::move(out));
  return {};
}

/// The element that constant padding adds, before opset 11: of the attribute.
std::array<char, 8> fill_of_attribute(const OpContext& c, DType dtype) {
  std::array<char, 8> bytes{};
  dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T element =
        Compute<T>::store(static_cast<typename Compute<T>::type>(c.node().attr_float("value", 0)));
    std::memcpy(bytes.data(), &element, sizeof element);
  });
  return bytes;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const Mode mode, mode_of(c));
  const bool old = c.node().version < 11;
  const std::vector<int64_t> list = old ? c.node().attr_ints("pads") : read_ints(c.in(1));
  std::vector<int64_t> axes;
  if (!old && c.has_in(3)) axes = read_ints(c.in(3));
  HASTEN_TRY(const std::vector<Pads> pads,
             pads_per_axis(c, list, !old && c.has_in(3) ? &axes : nullptr, x.dims.size()));
  Dims out_dims;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    if (pads[d].symbolic) return c.unsupported("pads that are not numbers yet");
    HASTEN_TRY(const int64_t size, padded_size(c, x.dims[d], pads[d]));
    out_dims.push_back(size);
  }
  HASTEN_TRY(void* out, c.out(0, x.dtype, out_dims));
  std::vector<AxisMap> maps;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    HASTEN_TRY(AxisMap map, padded_map(c, x.dims[d], pads[d], out_dims[d], mode));
    maps.push_back(std::move(map));
  }
  const std::array<char, 8> zero = fill_of_attribute(c, old ? x.dtype : DType::kNone);
  const std::string empty;
  const void* fill = x.dtype == DType::kString ? static_cast<const void*>(&empty) : zero.data();
  if (!old && c.has_in(2)) fill = c.in(2).data;
  map_block(x.dtype, x.data, x.dims, maps, fill, out);
  return {};
}

Status lower(LowerContext& c) {
  const Facts &x = c.in(0), &out = c.out(0);
  HASTEN_TRY(const Mode mode, mode_of(c));
  const Known known = known_operands(c);
  const auto refuse = [&](std::string reason) -> Status {
    c.refuse("map_axes", std::move(reason));
    return {};
  };
  if (!known.all()) return refuse("pads known only at run time");
  if (x.dtype == DType::kString) return refuse("strings");
  if (x.layout != out.layout) return refuse("another layout than the output");
  std::array<char, 8> value = fill_of_attribute(c, c.node().version < 11 ? x.dtype : DType::kNone);
  if (c.node().version >= 11 && c.has_in(2)) {
    if (c.constant(2) == nullptr) return refuse("constant_value known only at run time");
    std::memcpy(value.data(), c.constant(2)->data(), dtype_size(x.dtype));
  }
  HASTEN_TRY(std::vector<Pads> pads,
             pads_per_axis(c, *known.pads, known.has_axes ? &*known.axes : nullptr, x.rank()));
  const StoredDims stored = storage_of(x);
  std::vector<char> fill;
  while (static_cast<int64_t>(fill.size()) < stored.element_bytes) {
    fill.insert(fill.end(), value.begin(),
                value.begin() + static_cast<ptrdiff_t>(dtype_size(x.dtype)));
  }
  if (x.layout == Layout::kNchw16c) {
    if (pads[1].before != 0 || pads[1].after != 0)
      return refuse("pads channels of a blocked layout");
    if (x.shape[1].value() % 16 != 0 && value != std::array<char, 8>{}) {
      return refuse("would fill the channels that pad the last block");
    }
  }
  std::vector<AxisMap> maps;
  for (size_t d = 0; d < pads.size(); ++d) {
    HASTEN_TRY(const int64_t size, padded_size(c, stored.dims[d], pads[d]));
    constexpr int64_t kTableLimit = int64_t{1} << 24;
    if (size > kTableLimit) return refuse(fmt::format("an axis of {} elements", size));
    HASTEN_TRY(AxisMap map, padded_map(c, stored.dims[d], pads[d], size, mode));
    maps.push_back(std::move(map));
  }
  lower_map(c, stored, std::move(maps), fill.data());
  return {};
}

}  // namespace

std::vector<OpDef> ops_pad() {
  OpDef attribute{"", "Pad", 2, 10, 1, 1, 1, 1, {"mode", "pads", "value"}, infer, reference, lower};
  attribute.moves_elements = true;
  OpDef input{"", "Pad", 11, 17, 2, 3, 1, 1, {"mode"}, infer, reference, lower};
  input.moves_elements = true;
  OpDef with_axes = input;
  with_axes.since = 18;
  with_axes.until = kLastOpset;
  with_axes.max_inputs = 4;
  return {attribute, input, with_axes};
}

}  // namespace hasten
