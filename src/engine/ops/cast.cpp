// https://onnx.ai/onnx/operators/onnx__Cast.html, opsets 6-21, and
// https://onnx.ai/onnx/operators/onnx__CastLike.html, opsets 15-21: every dtype but float8, int4
// and complex. What does not fit is in docs/numerics.md.
#include <charconv>
#include <system_error>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Result<DType> target(const OpContext& c) {
  const int64_t to = c.node().attr_int("to", 0);
  if (to <= 0 || to > 255) return c.invalid("attribute 'to' is {}, not an element type", to);
  if (!dtype_supported(static_cast<int>(to))) {
    return c.unsupported("to {}", onnx_dtype_name(static_cast<int>(to)));
  }
  return static_cast<DType>(to);
}

void set_like(InferContext& c, DType to) {
  if (c.in(0).has_shape) {
    c.set(0, to, c.in(0).shape);
  } else {
    c.set_unknown(0, to);
  }
}

Status infer(InferContext& c) {
  HASTEN_TRY(const DType to, target(c));
  set_like(c, to);
  return {};
}

Status infer_like(InferContext& c) {
  set_like(c, c.in(1).dtype);
  return {};
}

/// The whole of a text as a number: "3.14", "1e-5", "+INF", "NaN" (any case), spaces around
/// allowed.
template <class T>
bool parse_number(std::string_view text, T* out) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *out);
  return !text.empty() && error == std::errc() && stop == end;
}

Status from_strings(const RefContext& c, const TensorView& x, DType to, void* out) {
  Status status;
  dispatch_any(to, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, std::string>) {
      copy_elements(to, x.data, out, x.count());
    } else {
      // Integers exactly; where the text is not an integer, and for the other types, by double.
      for (int64_t i = 0; i < x.count() && status; ++i) {
        const std::string& text = x.as<std::string>()[i];
        T& element = static_cast<T*>(out)[i];
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          if (parse_number(text, &element)) continue;
        }
        double number = 0;
        if (!parse_number(text, &number)) {
          status = c.invalid("element {} is '{}', not a number", i, text);
        }
        element = convert_number<T>(number);
      }
    }
  });
  return status;
}

/// Integers as digits, truths as 0 and 1, floats in plain notation by the fewest digits that give
/// them back.
template <class T>
std::string text_of(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return text_of(to_float(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return "NaN";
    if (std::isinf(x)) return x > 0 ? "INF" : "-INF";
    char digits[400];  // of the largest double: 309, of the smallest: 327
    const auto end = std::to_chars(digits, digits + sizeof digits, x, std::chars_format::fixed);
    return {digits, end.ptr};
  } else {
    return fmt::format("{}",
                       static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(x));
  }
}

Status cast(RefContext& c, DType to) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* out, c.out(0, to, x.dims));
  if (x.dtype == to) {
    copy_elements(to, x.data, out, x.count());
    return {};
  }
  if (x.dtype == DType::kString) return from_strings(c, x, to, out);
  dispatch_any(x.dtype, [&](auto from_zero) {
    using From = decltype(from_zero);
    dispatch_any(to, [&](auto to_zero) {
      using To = decltype(to_zero);
      for (int64_t i = 0; i < x.count(); ++i) {
        if constexpr (std::is_same_v<From, std::string>) {
          // from_strings
        } else if constexpr (std::is_same_v<To, std::string>) {
          static_cast<To*>(out)[i] = text_of(x.as<From>()[i]);
        } else {
          static_cast<To*>(out)[i] = convert_number<To>(x.as<From>()[i]);
        }
      }
    });
  });
  return {};
}

Status reference(RefContext& c) {
  HASTEN_TRY(const DType to, target(c));
  return cast(c, to);
}

Status reference_like(RefContext& c) { return cast(c, c.in(1).dtype); }

Status lower(LowerContext& c) {
  const DType from = c.in(0).dtype, to = c.out(0).dtype;
  if (c.in(0).layout != c.out(0).layout || (from != to && c.out(0).layout != Layout::kPlain)) {
    c.refuse("cast", "input and output are laid out otherwise than plain");
    return {};
  }
  if (from == to) {
    c.alias(0);
    return {};
  }
  constexpr DTypes kHasKernel = dtypes({DType::kF32, DType::kF16, DType::kBF16, DType::kI32,
                                        DType::kI64, DType::kU8, DType::kI8, DType::kBool});
  if (!(kHasKernel & dtypes({from})) || !(kHasKernel & dtypes({to}))) {
    c.refuse("cast", fmt::format("no kernel from {} to {}", dtype_name(from), dtype_name(to)));
    return {};
  }
  const int64_t count = count_of(c.out_dims(0));
  c.flops(static_cast<double>(count));
  if (dtype_size(from) == dtype_size(to)) c.in_place({0});
  c.take("cast", [from, to, count, kernel = c.kernels().cast](const StepArgs& s) {
    const CastArgs args{s.in[0], s.out[0], static_cast<int>(from), static_cast<int>(to)};
    split_elements(s, count, kCheapGrain,
                   [&](int64_t begin, int64_t end) { kernel(&args, begin, end); });
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_cast() {
  OpDef old{"", "Cast", 6, 18, 1, 1, 1, 1, {"to"}, infer, reference, lower};
  OpDef now = old;
  now.since = 19;
  now.until = kLastOpset;
  now.attrs = {"to", "saturate"};  // of float8 only
  OpDef like{"", "CastLike", 15, 18, 2, 2, 1, 1, {}, infer_like, reference_like, lower};
  OpDef like_now = like;
  like_now.since = 19;
  like_now.until = kLastOpset;
  like_now.attrs = {"saturate"};
  return {old, now, like, like_now};
}

}  // namespace hasten
