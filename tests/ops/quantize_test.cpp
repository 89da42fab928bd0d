// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. Values from the specification, from
// numpy where it says so, and by hand.
#include <limits>

#include "tests/ops/op_harness.h"

namespace hasten::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = NAN;

Tensor bytes(DType dtype, Dims dims, const std::vector<double>& values) {
  return numbers(dtype, std::move(dims), values);
}

TEST(QuantizeLinear, RoundsHalfToEvenAndSaturates) {
  const OpCase c = make_case("QuantizeLinear", 13,
                             {floats({9}, {.5f, 1.5f, 2.5f, -.5f, -1.5f, 300, -300, kInf, -kInf}),
                              floats({}, {1}), bytes(DType::kI8, {}, {0})});
  check_op(c, bytes(DType::kI8, {9}, {0, 2, 2, 0, -2, 127, -128, 127, -128}), "quantize_f32");
}

TEST(QuantizeLinear, RoundsBeforeItAddsTheZeroPoint) {
  check_op(make_case("QuantizeLinear", 10,
                     {floats({5}, {1.25f, -1.25f, 0.25f, 0.75f, 1000}), floats({}, {.5f}),
                      bytes(DType::kU8, {}, {3})}),
           bytes(DType::kU8, {5}, {5, 1, 3, 5, 255}), "quantize_f32");
}

TEST(QuantizeLinear, NanIsTheZeroPointWhereverItLies) {
  for (int64_t at = 0; at < 37; ++at) {
    std::vector<float> x(37, 2);
    std::vector<double> y(37, 9);
    x[static_cast<size_t>(at)] = kNan;
    y[static_cast<size_t>(at)] = 7;
    check_op(make_case("QuantizeLinear", 13,
                       {floats({37}, x), floats({}, {1}), bytes(DType::kI8, {}, {7})}),
             bytes(DType::kI8, {37}, y), "quantize_f32");
  }
}

TEST(QuantizeLinear, ScaleZeroSaturates) {
  check_op(make_case("QuantizeLinear", 13,
                     {floats({3}, {0, 1, -1}), floats({}, {0}), bytes(DType::kI8, {}, {5})}),
           bytes(DType::kI8, {3}, {5, 127, -128}), "quantize_f32");
}

TEST(QuantizeLinear, WithoutAZeroPointTheOutputIsUnsigned) {
  check_op(make_case("QuantizeLinear", 13, {floats({3}, {-1, 2, 999}), floats({1}, {2})}),
           bytes(DType::kU8, {3}, {0, 1, 255}), "quantize_f32");
  check_op(make_case("QuantizeLinear", 21, {floats({3}, {-1, 2, 99999}), floats({}, {1})},
                     {{"output_dtype", int64_t{5}}}),
           bytes(DType::kI16, {3}, {-1, 2, 32767}), "quantize_f32");
}

TEST(QuantizeLinear, AlongEachAxis) {
  const Tensor x = random_floats({3, 5, 21});
  for (const DType to : {DType::kU8, DType::kI8}) {
    for (int64_t axis = -3; axis < 3; ++axis) {
      const int64_t n = x.dims()[static_cast<size_t>((axis + 3) % 3)];
      check_op(make_case("QuantizeLinear", 13,
                         {x, random_floats({n}, 3, .01, .1), random_tensor(to, {n}, 0, 20, 4)},
                         {{"axis", axis}}),
               "quantize_f32");
    }
  }
  check_op(make_case("QuantizeLinear", 13,
                     {floats({2, 2}, {1, 2, 3, 4}), floats({2}, {1, .5f}),
                      bytes(DType::kU8, {2}, {0, 10})}),
           bytes(DType::kU8, {2, 2}, {1, 14, 3, 18}), "quantize_f32");
}

TEST(QuantizeLinear, InBlocks) {
  // Blocks of 2 along the last axis; the last block of a row is short.
  check_op(make_case("QuantizeLinear", 21,
                     {floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({2, 2}, {1, .5f, 2, 3}),
                      bytes(DType::kI16, {2, 2}, {0, 100, -5, 7})},
                     {{"axis", int64_t{1}}, {"block_size", int64_t{2}}}),
           bytes(DType::kI16, {2, 3}, {1, 2, 106, -3, -3, 9}), "quantize_f32");
  const Tensor x = random_floats({4, 7, 18});
  for (int64_t axis = 0; axis < 3; ++axis) {
    Dims dims = x.dims();
    int64_t& d = dims[static_cast<size_t>(axis)];
    d = (d + 2) / 3;
    for (const DType to : {DType::kU8, DType::kI8, DType::kU16, DType::kI16}) {
      check_op(make_case("QuantizeLinear", 21,
                         {x, random_floats(dims, 3, .01, .1), random_tensor(to, dims, 0, 90, 4)},
                         {{"axis", axis}, {"block_size", int64_t{3}}}),
               "quantize_f32");
    }
  }
}

TEST(QuantizeLinear, OtherElementTypes) {
  check_op(make_case("QuantizeLinear", 13,
                     {bytes(DType::kI32, {4}, {16777217, -7, 5, 1e9}), floats({}, {2}),
                      bytes(DType::kI8, {}, {0})}),
           bytes(DType::kI8, {4}, {127, -4, 2, 127}), "");
  for (const DType t : {DType::kF16, DType::kBF16}) {
    check_op(make_case(
                 "QuantizeLinear", 19,
                 {bytes(t, {4}, {1, 3, -5, 300}), bytes(t, {}, {2}), bytes(DType::kU8, {}, {128})}),
             bytes(DType::kU8, {4}, {128, 130, 126, 255}), "");
  }
  check_op(make_case("QuantizeLinear", 13, {floats({0, 3}, {}), floats({}, {2})}), "quantize_f32");
}

TEST(QuantizeLinear, Errors) {
  const Tensor x = random_floats({2, 3});
  const auto with = [&](int64_t opset, Tensor scale, Tensor zero, Attrs attrs) {
    return make_case("QuantizeLinear", opset, {x, std::move(scale), std::move(zero)},
                     std::move(attrs));
  };
  check_error(with(13, floats({2}, {1, 1}), {}, {}), Code::kInvalidModel, "axis 1 of the input 3");
  check_error(with(13, floats({2}, {1, 1}), {}, {{"axis", int64_t{2}}}), Code::kInvalidModel,
              "axis is 2");
  check_error(with(13, floats({1, 3}, {1, 1, 1}), {}, {}), Code::kInvalidModel, "block_size");
  check_error(with(10, floats({3}, {1, 1, 1}), {}, {}), Code::kInvalidModel, "scalar");
  check_error(with(13, floats({}, {1}), bytes(DType::kU8, {3}, {0, 0, 0}), {}), Code::kInvalidModel,
              "one shape");
  check_error(with(21, floats({2, 2}, {1, 1, 1, 1}), {}, {{"block_size", int64_t{-1}}}),
              Code::kInvalidModel, "block_size is -1");
  check_error(with(21, floats({2, 2}, {1, 1, 1, 1}), {}, {{"block_size", int64_t{1}}}),
              Code::kInvalidModel, "blocks of 1 along axis 1");
  check_error(with(21, floats({}, {1}), {}, {{"output_dtype", int64_t{17}}}), Code::kUnsupported,
              "float8e4m3fn");
  check_error(with(21, floats({}, {1}), {}, {{"output_dtype", int64_t{22}}}), Code::kUnsupported,
              "int4");
  check_error(with(13, floats({}, {1}), bytes(DType::kI16, {}, {0}), {}), Code::kInvalidModel,
              "i16");
}

TEST(DequantizeLinear, EveryType) {
  for (const DType from : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kI32}) {
    const double low = is_signed_int(from) ? -100 : 0;
    const Tensor x = random_tensor(from, {3, 5, 21}, low, 100);
    for (int64_t axis = 0; axis < 3; ++axis) {
      const int64_t n = x.dims()[static_cast<size_t>(axis)];
      check_op(make_case("DequantizeLinear", 21,
                         {x, random_floats({n}, 3, .01, .1), random_tensor(from, {n}, 0, 20, 4)},
                         {{"axis", axis}}),
               "dequantize_f32");
      Dims dims = x.dims();
      int64_t& d = dims[static_cast<size_t>(axis)];
      d = (d + 3) / 4;
      check_op(make_case("DequantizeLinear", 21, {x, random_floats(dims, 3, .01, .1)},
                         {{"axis", axis}, {"block_size", int64_t{4}}}),
               "dequantize_f32");
    }
  }
}

TEST(DequantizeLinear, Values) {
  check_op(make_case("DequantizeLinear", 10,
                     {bytes(DType::kU8, {4}, {0, 3, 128, 255}), floats({}, {2}),
                      bytes(DType::kU8, {}, {128})}),
           floats({4}, {-256, -250, 0, 254}), "dequantize_f32");
  check_op(make_case("DequantizeLinear", 13,
                     {bytes(DType::kI8, {2, 2}, {-128, 1, 2, 127}), floats({2}, {2, .5f}),
                      bytes(DType::kI8, {2}, {127, -1})},
                     {{"axis", int64_t{0}}}),
           floats({2, 2}, {-510, -252, 1.5f, 64}), "dequantize_f32");
  check_op(make_case("DequantizeLinear", 19,
                     {bytes(DType::kI32, {2}, {-3, 7}), bytes(DType::kF16, {}, {.5})}),
           bytes(DType::kF16, {2}, {-1.5, 3.5}), "");
  check_error(make_case("DequantizeLinear", 13,
                        {bytes(DType::kI8, {1}, {1}), floats({}, {2}), bytes(DType::kU8, {}, {1})}),
              Code::kInvalidModel, "zero point");
}

OpCase dynamic(Dims dims, std::vector<float> x) {
  return make_case("DynamicQuantizeLinear", 11, {floats(std::move(dims), std::move(x))}, {}, 3);
}

void expect_dynamic(const OpCase& c, const std::vector<double>& y, float scale, int zero) {
  const auto out = check_op(c, "quantize_f32");
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(difference(out[0], bytes(DType::kU8, out[0].dims(), y)), "");
  EXPECT_EQ(bit_difference(out[1], floats({}, {scale})), "");
  EXPECT_EQ(difference(out[2], bytes(DType::kU8, {}, {static_cast<double>(zero)})), "");
}

TEST(DynamicQuantizeLinear, DegenerateRanges) {
  expect_dynamic(dynamic({4}, {0, 0, 0, 0}), {0, 0, 0, 0}, 1, 0);
  expect_dynamic(dynamic({0}, {}), {}, 1, 0);
  expect_dynamic(dynamic({3}, {5, 5, 5}), {255, 255, 255}, 5.0f / 255, 0);
  expect_dynamic(dynamic({6}, {-1, -2.1f, -1.3f, -2.5f, -3.34f, -4}), {191, 121, 172, 96, 42, 0},
                 4.0f / 255, 255);
  expect_dynamic(dynamic({2}, {1e-45f, 0}), {0, 0}, 1, 0);  // its 255th part is 0
  expect_dynamic(dynamic({2}, {3e38f, -3e38f}), {255, 0}, static_cast<float>(6e38 / 255), 128);
}

TEST(DynamicQuantizeLinear, NanShows) {
  for (const size_t at : {size_t{0}, size_t{5}, size_t{20000}}) {
    std::vector<float> x(20001, 1);
    x[at] = kNan;
    expect_dynamic(dynamic({20001}, x), std::vector<double>(20001, 0), kNan, 0);
  }
}

/// Output `output` of one node on its reference.
Tensor evaluate(const OpCase& c, size_t output = 0) {
  auto out = evaluate_node(c.node, c.inputs);
  EXPECT_TRUE(out) << out.error().message;
  return out ? (*out)[output] : Tensor();
}

TEST(DynamicQuantizeLinear, WhatReluMadeZeroStaysZero) {
  const Tensor x = evaluate(make_case("Relu", 14, {floats({1, 4}, {-1, -2, -3, -.5f})}));
  const OpCase c = make_case("DynamicQuantizeLinear", 11, {x}, {}, 3);
  const Tensor y = evaluate(c, 0), scale = evaluate(c, 1), zero = evaluate(c, 2);
  const Tensor sum = evaluate(make_case(
      "MatMulInteger", 10, {y, bytes(DType::kI8, {4, 2}, {1, -2, 3, -4, 5, -6, 7, -8}), zero}));
  const Tensor real = evaluate(
      make_case("Mul", 14, {evaluate(make_case("Cast", 13, {sum}, {{"to", int64_t{1}}})), scale}));
  EXPECT_EQ(bit_difference(real, floats({1, 2}, {0, 0})), "");
}

TEST(DynamicQuantizeLinear, LargeInputs) {
  for (const int64_t n : {1, 15, 17, 8191, 8193, 50000}) {
    check_op(make_case("DynamicQuantizeLinear", 11, {random_floats({n})}, {}, 3), "quantize_f32");
  }
}

}  // namespace
}  // namespace hasten::test
