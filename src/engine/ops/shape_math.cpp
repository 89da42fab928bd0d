#include "engine/ops/shape_math.h"

#include <algorithm>

namespace hasten {

Result<size_t> resolve_axis(const OpContext& c, int64_t axis, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) {
    return c.invalid("axis {} is outside [{}, {}] of a tensor of rank {}", axis, -r, r - 1, r);
  }
  return static_cast<size_t>(axis < 0 ? axis + r : axis);
}

Result<std::vector<size_t>> resolve_axes(const OpContext& c, std::span<const int64_t> axes,
                                         size_t rank) {
  std::vector<size_t> out;
  for (int64_t axis : axes) {
    HASTEN_TRY(const size_t resolved, resolve_axis(c, axis, rank));
    if (std::find(out.begin(), out.end(), resolved) != out.end()) {
      return c.invalid("axes {} name axis {} twice", dims_text(axes), resolved);
    }
    out.push_back(resolved);
  }
  return out;
}

bool has_symbols(std::span<const int64_t> values) {
  return std::any_of(values.begin(), values.end(), Dim::is_symbol_code);
}

std::vector<int64_t> read_ints(const TensorView& tensor) {
  const int64_t n = tensor.count();
  if (tensor.dtype == DType::kI64) return {tensor.as<int64_t>(), tensor.as<int64_t>() + n};
  if (tensor.dtype == DType::kI32) return {tensor.as<int32_t>(), tensor.as<int32_t>() + n};
  return {};
}

std::optional<std::vector<int64_t>> known_ints(const Facts& facts) {
  if (!facts.known_value()) return std::nullopt;
  return read_ints(facts.value.view());
}

Status check_int_operand(const OpContext& c, const Facts& operand, const char* what,
                         bool allow_i32) {
  const DType t = operand.dtype;
  if (t == DType::kNone || t == DType::kI64 || (allow_i32 && t == DType::kI32)) return {};
  return c.invalid("{} has dtype {}, it must be {}", what, dtype_name(t),
                   allow_i32 ? "i32 or i64" : "i64");
}

Status check_int_list(const OpContext& c, const Facts& operand, const char* what, bool allow_i32) {
  HASTEN_CHECK(check_int_operand(c, operand, what, allow_i32));
  if (operand.has_shape && operand.rank() != 1) {
    return c.invalid("{} must be 1-D, it is {}", what, operand.text());
  }
  return {};
}

std::optional<int64_t> list_length(const Facts& operand) {
  if (!operand.known_shape() || operand.rank() != 1) return std::nullopt;
  return operand.shape[0].value();
}

Result<Dim> dim_product(const OpContext& c, std::span<const Dim> dims) {
  if (std::find(dims.begin(), dims.end(), Dim(0)) != dims.end()) return Dim(0);
  int64_t number = 1;
  std::optional<Dim> symbol;
  bool many = false;
  for (Dim d : dims) {
    if (!d.known()) {
      many |= symbol.has_value();
      symbol = d;
    } else if (__builtin_mul_overflow(number, d.value(), &number)) {
      return c.invalid("the product of {} does not fit 64 bits",
                       shape_text(Shape(dims.begin(), dims.end())));
    }
  }
  if (!symbol) return Dim(number);
  return many || number != 1 ? Dim::fresh() : *symbol;
}

Result<Dim> dim_sum(const OpContext& c, Dim a, Dim b) {
  if (a == Dim(0)) return b;
  if (b == Dim(0)) return a;
  if (!a.known() || !b.known()) return Dim::fresh();
  int64_t sum = 0;
  if (__builtin_add_overflow(a.value(), b.value(), &sum)) {
    return c.invalid("{} + {} does not fit 64 bits", a.value(), b.value());
  }
  return Dim(sum);
}

Result<Dim> dim_times(const OpContext& c, Dim d, int64_t factor) {
  const Dim both[] = {d, Dim(factor)};
  return dim_product(c, both);
}

Status set_checked(InferContext& c, size_t output, DType dtype, Shape shape) {
  if (is_known(shape)) {
    if (auto count = checked_count(to_dims(shape)); !count) {
      return c.invalid("{}", count.error().message);
    }
  }
  c.set(output, dtype, std::move(shape));
  return {};
}

Shape fresh_shape(size_t rank) {
  Shape shape(rank);
  for (Dim& d : shape) d = Dim::fresh();
  return shape;
}

Dims row_major_strides(std::span<const int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

}  // namespace hasten
