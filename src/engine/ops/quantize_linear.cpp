// https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html, opsets 10-21: f32, i32 and (from 19)
// f16, bf16 to u8, i8 and (from 21) u16, i16; per tensor, along an axis (from 13), in blocks (from
// 21). float8 and int4 are refused by name.
#include "engine/ops/op.h"
#include "engine/ops/quantization.h"

namespace hasten {

namespace {

constexpr DTypes kFrom = dtypes({DType::kF32, DType::kF16, DType::kBF16, DType::kI32});
constexpr DTypes kShorts = dtypes({DType::kU16, DType::kI16});

Result<DType> target(const OpContext& c, DType zero) {
  const int64_t asked = c.node().attr_int("output_dtype", 0);
  if (asked == 0) {
    return c.has_in(2) ? zero : DType::kU8;
  }
  if (asked < 0 || asked > 255) return c.invalid("output_dtype is {}", asked);
  if (!dtype_supported(static_cast<int>(asked))) {
    return c.unsupported("output_dtype {}", onnx_dtype_name(static_cast<int>(asked)));
  }
  const auto dtype = static_cast<DType>(asked);
  if (!(dtypes({dtype}) & (kBytes | kShorts))) {
    return c.invalid("output_dtype is {}, it must be an integer of 8 or 16 bits",
                     dtype_name(dtype));
  }
  if (c.has_in(2) && zero != DType::kNone && zero != dtype) {
    return c.invalid("output_dtype is {}, the zero point has {}", dtype_name(dtype),
                     dtype_name(zero));
  }
  return dtype;
}

Status infer(InferContext& c) {
  const bool first = c.node().version < 19;
  HASTEN_CHECK(check_dtype(c, 0, first ? dtypes({DType::kF32, DType::kI32}) : kFrom));
  HASTEN_CHECK(check_dtype(c, 1, first ? dtypes({DType::kF32}) : kFrom));
  HASTEN_CHECK(check_dtype(c, 2, c.node().version < 21 ? kBytes : kBytes | kShorts));
  const DType x = c.in(0).dtype, scale = c.in(1).dtype;
  if (is_float(x) && scale != DType::kNone && scale != x) {
    return c.invalid("the input is {}, the scale {}", dtype_name(x), dtype_name(scale));
  }
  HASTEN_CHECK(check_quantization(c));
  HASTEN_TRY(const DType to, target(c, c.in(2).dtype));
  if (c.in(0).has_shape) {
    c.set(0, to, c.in(0).shape);
  } else {
    c.set_unknown(0, to);
  }
  return {};
}

std::vector<double> doubles(const TensorView& t) {
  std::vector<double> out(static_cast<size_t>(t.count()));
  dispatch_number(t.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<double>(Compute<T>::load(t.as<T>()[i]));
    }
  });
  return out;
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &scale = c.in(1), &zero = c.in(2);
  HASTEN_TRY(const DType to, target(c, zero.dtype));
  HASTEN_TRY(void* out, c.out(0, to, x.dims));
  const QuantizeWalk walk = quantize_walk(c, x.dims, scale.dims);
  const std::vector<double> numbers = doubles(x), scales = doubles(scale);
  const bool as_double = is_int(x.dtype);
  dispatch_int(to, [&](auto to_zero) {
    using Y = decltype(to_zero);
    walk.for_each([&](int64_t i, int64_t at) {
      const double value = numbers[static_cast<size_t>(i)];
      const double step = scales[static_cast<size_t>(at)];
      const Y z = zero.data ? zero.as<Y>()[at] : Y{0};
      // Floats of 16 bits divide as float, which holds them; integers as double, for that reason.
      static_cast<Y*>(out)[i] =
          as_double ? quantize_number<Y>(value, step, z)
                    : quantize_number<Y>(static_cast<float>(value), static_cast<float>(step), z);
    });
  });
  return {};
}

Status lower(LowerContext& c) {
  return lower_quantization(c, "quantize_f32", c.kernels().quantize_f32, c.in(0).dtype,
                            c.out(0).dtype);
}

}  // namespace

std::vector<OpDef> ops_quantize_linear() {
  OpDef v10{"", "QuantizeLinear", 10, 12, 2, 3, 1, 1, {}, infer, reference, lower};
  OpDef v13 = v10, v19 = v10, v21 = v10;
  v13.since = 13, v13.until = 18;
  v13.attrs = {"axis"};
  v19.since = 19, v19.until = 20;
  v19.attrs = {"axis", "saturate"};  // saturate: of float8 only
  v21.since = 21, v21.until = kLastOpset;
  v21.attrs = {"axis", "block_size", "output_dtype", "saturate"};
  return {v10, v13, v19, v21};
}

}  // namespace hasten
