#include "engine/ops/random_numbers.h"

#include <sys/random.h>

#include <bit>
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"

namespace hasten {

namespace {

/// log x for x in (0, 1].
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  if (m < 0.70710678118654752) m *= 2, --exponent;
  // log m = 2 atanh s
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

/// cos(2 pi u) for u in [0, 1).
double cos_turns(double u) {
  const double quarter = std::floor(u * 4 + 0.5);
  const double x = (u - quarter / 4) * 6.2831853071795865, x2 = x * x;  // |x| <= pi / 4
  const int q = static_cast<int>(quarter) & 3;
  double sum = 1;
  if (q % 2 == 0) {
    for (int k = 18; k >= 2; k -= 2) sum = 1 - sum * x2 / (k * (k - 1));
  } else {
    for (int k = 19; k >= 3; k -= 2) sum = 1 - sum * x2 / (k * (k - 1));
    sum *= x;
  }
  return q == 1 || q == 2 ? -sum : sum;
}

/// Where the elements lie, and how they are spread: mean and deviation, or two ends.
struct Spread {
  double a = 0, b = 1;
};

Result<Spread> spread_of(const OpContext& c, bool normal) {
  const char *first = normal ? "mean" : "low", *second = normal ? "scale" : "high";
  const Spread s{c.node().attr_float(first, 0), c.node().attr_float(second, 1)};
  if (!std::isfinite(s.a) || !std::isfinite(s.b)) {
    return c.invalid("attributes '{}' and '{}' are {} and {}, they must be finite", first, second,
                     s.a, s.b);
  }
  if (normal && s.b < 0) return c.invalid("attribute 'scale' is {}, it must not be negative", s.b);
  if (!normal && s.b < s.a) return c.invalid("attribute 'low' is {}, 'high' {}", s.a, s.b);
  return s;
}

constexpr DTypes kDrawn = dtypes({DType::kF16, DType::kF32, DType::kF64});

Result<Dims> attribute_shape(const OpContext& c) {
  if (c.node().find_attr("shape") == nullptr) return c.invalid("attribute 'shape' is missing");
  Dims dims = c.node().attr_ints("shape");
  for (const int64_t d : dims) {
    if (d < 0) return c.invalid("attribute 'shape' is {}", dims_text(dims));
  }
  if (auto count = checked_count(dims); !count) return c.invalid("{}", count.error().message);
  return dims;
}

Status infer(InferContext& c, bool normal, bool like) {
  HASTEN_CHECK(spread_of(c, normal));
  HASTEN_CHECK(random_stream(c));
  HASTEN_TRY(const DType dtype, random_dtype(c, like ? c.in(0).dtype : DType::kF32, kDrawn));
  if (!like) {
    HASTEN_TRY(const Dims dims, attribute_shape(c));
    c.set(0, dtype, to_shape(dims));
  } else if (c.in(0).has_shape) {
    c.set(0, dtype, c.in(0).shape);
  } else {
    c.set_unknown(0, dtype);
  }
  return {};
}

Status fill(RefContext& c, bool normal, bool like) {
  HASTEN_TRY(const Spread s, spread_of(c, normal));
  HASTEN_TRY(const RandomStream stream, random_stream(c));
  HASTEN_TRY(const DType dtype, random_dtype(c, like ? c.in(0).dtype : DType::kF32, kDrawn));
  Dims dims = c.in(0).dims;
  if (!like) {
    HASTEN_TRY(dims, attribute_shape(c));
  }
  HASTEN_TRY(void* memory, c.out(0, dtype, dims));
  dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(memory);
    for (int64_t i = 0; i < count_of(dims); ++i) {
      const auto at = static_cast<uint64_t>(i);
      const double x =
          normal ? s.a + s.b * stream.normal(at) : s.a + (s.b - s.a) * stream.uniform(at);
      out[i] = convert_number<T>(x);
    }
  });
  return {};
}

template <bool normal, bool like>
Status infer_fill(InferContext& c) {
  return infer(c, normal, like);
}
template <bool normal, bool like>
Status reference_fill(RefContext& c) {
  return fill(c, normal, like);
}

}  // namespace

double RandomStream::normal(uint64_t i) const {
  // 1 - uniform is in (0, 1].
  return std::sqrt(-2 * portable_log(1 - uniform(2 * i))) * cos_turns(uniform(2 * i + 1));
}

double portable_exp(double x) {
  if (std::isnan(x)) return x;
  if (x < -745.2) return 0;
  const double n = std::floor(x * 1.4426950408889634 + 0.5);
  // ln 2 in two parts, the first of few bits, so that n times it is exact.
  const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  double sum = 1;
  for (int k = 14; k >= 1; --k) sum = 1 + sum * r / k;
  return std::ldexp(sum, static_cast<int>(n));
}

Result<RandomStream> random_stream(const OpContext& c) {
  uint64_t seed = 0;
  if (const Attr* given = c.node().find_attr("seed")) {
    const float real = c.node().attr_float("seed", 0);
    if (std::isnan(real)) return c.invalid("attribute 'seed' is not a number");
    const auto* integer = std::get_if<int64_t>(given);  // of Dropout
    const uint64_t bits =
        integer != nullptr ? static_cast<uint64_t>(*integer) : std::bit_cast<uint32_t>(real);
    // Seeds that are neighbours must not start neighbouring streams.
    seed = RandomStream(bits).bits(0);
  } else if (::getrandom(&seed, sizeof seed, 0) != sizeof seed) {
    return hasten::fail(Code::kInternal, "{}: the system gives no random numbers",
                        c.node().label());
  }
  return RandomStream(seed);
}

Result<DType> random_dtype(const OpContext& c, DType otherwise, uint32_t allowed) {
  DType dtype = otherwise;
  if (c.node().find_attr("dtype") != nullptr) {
    const int64_t number = c.node().attr_int("dtype", 0);
    if (number <= 0 || number > 255) {
      return c.invalid("attribute 'dtype' is {}, not an element type", number);
    }
    if (!dtype_supported(static_cast<int>(number))) {
      return c.unsupported("dtype {}", onnx_dtype_name(static_cast<int>(number)));
    }
    dtype = static_cast<DType>(number);
  }
  if (dtype != DType::kNone && !(allowed & dtypes({dtype}))) {
    return c.invalid("it cannot give elements of {}", dtype_name(dtype));
  }
  return dtype;
}

std::vector<OpDef> random_fill(const char* name, bool normal, bool like) {
  OpDef def{"",      name,   7, kLastOpset, like ? 1 : 0, like ? 1 : 0, 1, 1, {"dtype", "seed"},
            nullptr, nullptr};
  def.attrs.push_back(normal ? "mean" : "low");
  def.attrs.push_back(normal ? "scale" : "high");
  if (!like) def.attrs.push_back("shape");
  def.infer = normal ? like ? infer_fill<true, true> : infer_fill<true, false>
              : like ? infer_fill<false, true>
                     : infer_fill<false, false>;
  def.reference = normal ? like ? reference_fill<true, true> : reference_fill<true, false>
                  : like ? reference_fill<false, true>
                         : reference_fill<false, false>;
  def.impure = true;
  return {def};
}

}  // namespace hasten
