// https://onnx.ai/onnx/operators/onnx__Range.html, opsets 11-21: f32, f64, i16, i32, i64.
#include <cmath>

#include "engine/ops/numbers.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

template <class F>
bool dispatch_range(DType t, F&& f) {
  bool known = false;
  dispatch_number(t, [&](auto zero) {
    using T = decltype(zero);
    constexpr bool kInteger =
        std::is_same_v<T, int16_t> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;
    if constexpr (kInteger || std::is_floating_point_v<T>) {
      f(zero);
      known = true;
    }
  });
  return known;
}

/// max(0, ceil((limit - start) / delta)); no step of it overflows.
template <class T>
Result<int64_t> length_of(const OpContext& c, T start, T limit, T delta) {
  if (delta == 0) return c.invalid("delta is 0");
  if constexpr (std::is_integral_v<T>) {
    const auto from = static_cast<int64_t>(start), to = static_cast<int64_t>(limit);
    const auto step = static_cast<int64_t>(delta);
    if (step > 0 ? from >= to : from <= to) return 0;
    const uint64_t distance = step > 0 ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                                       : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
    const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
    const uint64_t n = (distance - 1) / stride + 1;
    if (n > uint64_t{1} << 62) return c.invalid("{} elements are too many", n);
    return static_cast<int64_t>(n);
  } else {
    const double n = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                               static_cast<double>(delta));
    if (std::isnan(n)) return c.invalid("from {} to {} by {} has no length", start, limit, delta);
    if (n > 0x1p62)
      return c.invalid("from {} to {} by {} has too many elements", start, limit, delta);
    return n > 0 ? static_cast<int64_t>(n) : 0;
  }
}

/// Elements start + i * delta; integers wrap around.
template <class T>
void fill(const T* start, const T* delta, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<T>) {
      out[i] = static_cast<T>(static_cast<uint64_t>(*start) +
                              static_cast<uint64_t>(i) * static_cast<uint64_t>(*delta));
    } else {
      out[i] = *start + static_cast<T>(i) * *delta;
    }
  }
}

Status infer(InferContext& c) {
  const DType dtype = c.in(0).dtype;
  static constexpr const char* kNames[] = {"start", "limit", "delta"};
  bool known = true, symbols = false;
  for (size_t i = 0; i < 3; ++i) {
    const Facts& f = c.in(i);
    if (f.dtype != DType::kNone && dtype != DType::kNone && f.dtype != dtype) {
      return c.invalid("{} is {}, start is {}; they must have one dtype", kNames[i],
                       dtype_name(f.dtype), dtype_name(dtype));
    }
    if (f.known_shape() && count_of(to_dims(f.shape)) != 1) {
      return c.invalid("{} has the shape {}, it must be a scalar", kNames[i], shape_text(f.shape));
    }
    known = known && f.known_value();
    symbols = symbols || (f.known_value() && f.dtype == DType::kI64 &&
                          Dim::is_symbol_code(*f.value.as<int64_t>()));
  }
  Dim length = Dim::fresh();
  if (known && symbols) {
    const int64_t start = *c.in(0).value.as<int64_t>(), delta = *c.in(2).value.as<int64_t>();
    if (start == 0 && delta == 1) length = Dim::from_code(*c.in(1).value.as<int64_t>());
  }
  Status status;
  const bool supported = dispatch_range(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (!known || symbols) return;
    auto n =
        length_of<T>(c, *c.in(0).value.as<T>(), *c.in(1).value.as<T>(), *c.in(2).value.as<T>());
    if (n) {
      length = Dim(*n);
    } else {
      status = fail(n.error());
    }
  });
  if (!supported && dtype != DType::kNone) return c.unsupported("dtype {}", dtype_name(dtype));
  HASTEN_CHECK(status);
  c.set(0, dtype, {length});
  return {};
}

Status reference(RefContext& c) {
  Status status;
  dispatch_range(c.in(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    status = [&]() -> Status {
      HASTEN_TRY(const int64_t n,
                 length_of<T>(c, *c.in(0).as<T>(), *c.in(1).as<T>(), *c.in(2).as<T>()));
      HASTEN_TRY(void* out, c.out(0, c.in(0).dtype, {n}));
      fill<T>(c.in(0).as<T>(), c.in(2).as<T>(), static_cast<T*>(out), n);
      return {};
    }();
  });
  return status;
}

Status lower(LowerContext& c) {
  const int64_t n = c.out_dims(0)[0];
  dispatch_range(c.in(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    c.take("range",
           [n](const StepArgs& s) { fill<T>(s.input<T>(0), s.input<T>(2), s.output<T>(0), n); });
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_range() {
  return {{"", "Range", 11, kLastOpset, 3, 3, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
