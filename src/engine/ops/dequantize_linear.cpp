// https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html, opsets 10-21: u8, i8, i32 and (from
// 21) u16, i16 to f32 and (from 19) f16, bf16; per tensor, along an axis (from 13), in blocks (from
// 21). float8 and int4 are refused by name.
#include "engine/ops/op.h"
#include "engine/ops/quantization.h"

namespace hasten {

namespace {

constexpr DTypes kFirst = kBytes | dtypes({DType::kI32});
constexpr DTypes kNow = kFirst | dtypes({DType::kU16, DType::kI16});

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtype(c, 0, c.node().version < 21 ? kFirst : kNow));
  HASTEN_CHECK(check_dtype(c, 1,
                           c.node().version < 19
                               ? dtypes({DType::kF32})
                               : dtypes({DType::kF32, DType::kF16, DType::kBF16})));
  const DType x = c.in(0).dtype, zero = c.in(2).dtype;
  if (x != DType::kNone && zero != DType::kNone && x != zero) {
    return c.invalid("the input is {}, the zero point {}", dtype_name(x), dtype_name(zero));
  }
  HASTEN_CHECK(check_quantization(c));
  if (c.in(0).has_shape) {
    c.set(0, c.in(1).dtype, c.in(0).shape);
  } else {
    c.set_unknown(0, c.in(1).dtype);
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &scale = c.in(1), &zero = c.in(2);
  HASTEN_TRY(void* out, c.out(0, scale.dtype, x.dims));
  const QuantizeWalk walk = quantize_walk(c, x.dims, scale.dims);
  dispatch_int(x.dtype, [&](auto x_zero) {
    dispatch_float(scale.dtype, [&](auto y_zero) {
      using X = decltype(x_zero);
      using Y = decltype(y_zero);
      walk.for_each([&](int64_t i, int64_t at) {
        // The difference wraps, for 32-bit integers.
        const auto difference =
            static_cast<int32_t>(static_cast<uint32_t>(x.as<X>()[i]) -
                                 static_cast<uint32_t>(zero.data ? zero.as<X>()[at] : X{0}));
        const float y = static_cast<float>(difference) *
                        static_cast<float>(Compute<Y>::load(scale.as<Y>()[at]));
        static_cast<Y*>(out)[i] = Compute<Y>::store(static_cast<typename Compute<Y>::type>(y));
      });
    });
  });
  return {};
}

Status lower(LowerContext& c) {
  return lower_quantization(c, "dequantize_f32", c.kernels().dequantize_f32, c.out(0).dtype,
                            c.in(0).dtype);
}

}  // namespace

std::vector<OpDef> ops_dequantize_linear() {
  OpDef v10{"", "DequantizeLinear", 10, 12, 2, 3, 1, 1, {}, infer, reference, lower};
  OpDef v13 = v10, v21 = v10;
  v13.since = 13, v13.until = 20;
  v13.attrs = {"axis"};
  v21.since = 21, v21.until = kLastOpset;
  v21.attrs = {"axis", "block_size"};
  return {v10, v13, v21};
}

}  // namespace hasten
