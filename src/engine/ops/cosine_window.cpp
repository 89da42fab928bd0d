#include "engine/ops/cosine_window.h"

#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/shape_math.h"

namespace hasten {

Result<DType> output_dtype(const OpContext& c) {
  const int64_t number = c.node().attr_int("output_datatype", 1);
  const bool fits = number >= 0 && number < 256 && dtype_supported(static_cast<int>(number));
  const auto dtype = fits ? static_cast<DType>(number) : DType::kNone;
  if (!is_float(dtype) && !is_int(dtype)) {
    return c.unsupported("output_datatype {}", fits ? dtype_name(dtype) : std::to_string(number));
  }
  return dtype;
}

namespace {

Status check_size(const OpContext& c, int64_t size) {
  if (size < 0 && !Dim::is_symbol_code(size)) {
    return c.invalid("size is {}, it must not be negative", size);
  }
  return {};
}

}  // namespace

Status infer_window(InferContext& c) {
  HASTEN_TRY(const DType dtype, output_dtype(c));
  const Facts& size = c.in(0);
  HASTEN_CHECK(check_int_operand(c, size, "size"));
  if (size.known_shape() && count_of(to_dims(size.shape)) != 1) {
    return c.invalid("size has the shape {}, it must be one number", shape_text(size.shape));
  }
  Dim length = Dim::fresh();
  if (const auto known = known_ints(size)) {
    HASTEN_CHECK(check_size(c, known->front()));
    length = Dim::from_code(known->front());
    if (length.known()) {
      const int64_t dims[] = {length.value()};
      if (auto count = checked_count(dims); !count) return c.invalid("{}", count.error().message);
    }
  }
  c.set(0, dtype, {length});
  return {};
}

Status reference_window(RefContext& c, const std::array<double, 3>& a) {
  HASTEN_TRY(const DType dtype, output_dtype(c));
  const int64_t size = read_ints(c.in(0)).front();
  HASTEN_CHECK(check_size(c, size));
  HASTEN_TRY(void* memory, c.out(0, dtype, {size}));
  const bool periodic = c.node().attr_int("periodic", 1) != 0;
  const auto n = static_cast<double>(periodic ? size : size - 1);
  dispatch_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < size; ++i) {
      const double t = 2 * M_PI * static_cast<double>(i) / n;
      const double y = n == 0 ? 1 : a[0] + a[1] * std::cos(t) + a[2] * std::cos(2 * t);
      static_cast<T*>(memory)[i] = convert_number<T>(y);
    }
  });
  return {};
}

}  // namespace hasten
