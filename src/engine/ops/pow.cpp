// https://onnx.ai/onnx/operators/onnx__Pow.html, opsets 7-21. The base decides the dtype of the
// result; the exponent may be any number. Integer powers of integers wrap; a negative exponent
// gives what is left of 1 / x^n when cut towards zero.
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtype(c, 0, kNumbers));
  HASTEN_CHECK(check_dtype(c, 1, kNumbers));
  const Facts &x = c.in(0), &y = c.in(1);
  if (!x.has_shape || !y.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  auto shape = broadcast(x.shape, y.shape);
  if (!shape) return c.invalid("{}", shape.error().message);
  c.set(0, x.dtype, std::move(*shape));
  return {};
}

/// x^n for n >= 0, modulo 2^64.
uint64_t integer_power(uint64_t x, uint64_t n) {
  uint64_t result = 1;
  for (; n > 0; n >>= 1) {
    if (n & 1) result *= x;
    x *= x;
  }
  return result;
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &y = c.in(1);
  HASTEN_TRY(const Dims dims, broadcast_dims(x.dims, y.dims));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, dims));
  const Dims x_strides = broadcast_strides(x.dims, dims),
             y_strides = broadcast_strides(y.dims, dims);
  bool zero_to_negative = false;
  dispatch_number(x.dtype, [&](auto base_zero) {
    using T = decltype(base_zero);
    using C = typename Compute<T>::type;
    dispatch_number(y.dtype, [&](auto exponent_zero) {
      using U = decltype(exponent_zero);
      for_each_broadcast(dims, x_strides, y_strides, [&](int64_t i, int64_t at_x, int64_t at_y) {
        const C base = Compute<T>::load(x.as<T>()[at_x]);
        const auto exponent = Compute<U>::load(y.as<U>()[at_y]);
        T& out = static_cast<T*>(memory)[i];
        if constexpr (std::is_integral_v<T> && std::is_integral_v<U>) {
          if (exponent < 0) {
            zero_to_negative |= base == 0;
            const bool odd = exponent % 2 != 0;
            const bool minus_one = std::is_signed_v<T> && base == static_cast<C>(-1);
            const int power = base == 1 ? 1 : minus_one ? (odd ? -1 : 1) : 0;
            out = Compute<T>::store(static_cast<C>(power));
          } else {
            out = Compute<T>::store(static_cast<C>(
                integer_power(static_cast<uint64_t>(base), static_cast<uint64_t>(exponent))));
          }
        } else {
          out =
              convert_number<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
        }
      });
    });
  });
  if (zero_to_negative) return c.invalid("raises the integer 0 to a negative power");
  return {};
}

Status lower(LowerContext& c) {
  const char* name = "pow_f32";
  if (c.in(0).dtype == DType::kF32 && c.in(1).dtype == DType::kF32) {
    return lower_broadcast(c, {{DType::kF32, name, c.kernels().pow_f32}}, 2, 0, 20);
  }
  // An exponent of another dtype: one constant is as good as a float.
  const Tensor* exponent = c.constant(1);
  const Placement out{c.out_dims(0), c.out(0).layout};
  if (c.in(0).dtype != DType::kF32 || exponent == nullptr || exponent->count() != 1 ||
      c.in_dims(0) != out.dims || c.in(0).layout != out.layout) {
    c.refuse(name, fmt::format("{} to the power of {}", c.in(0).text(), c.in(1).text()));
    return {};
  }
  float power = 0;
  dispatch_number(exponent->dtype(),
                  [&](auto t) { power = convert_number<float>(exponent->as<decltype(t)>()[0]); });
  c.flops(static_cast<double>(count_of(out.dims)));
  c.in_place({0});
  const int64_t count = storage_count(out.dims, out.layout);
  c.take(name,
         [power, count, padding = padding_of(out.dims, out.layout),
          zero = c.kernels().zero_padding_f32, kernel = c.kernels().pow_f32](const StepArgs& s) {
           BroadcastArgs args{};
           args.in[0] = s.in[0];
           args.in[1] = &power;
           args.out = s.out[0];
           args.n = count;
           args.step[0] = 1;
           PaddingArgs to_zero = padding;
           to_zero.x = s.output<float>(0);
           split_elements(s, count, kCostlyGrain, [&](int64_t begin, int64_t end) {
             kernel(&args, begin, end);
             if (to_zero.lanes) zero(&to_zero, begin / 16, end / 16);
           });
         });
  return {};
}

}  // namespace

std::vector<OpDef> ops_pow() {
  return {{"", "Pow", 7, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
