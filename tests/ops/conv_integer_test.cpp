// ConvInteger and QLinearConv. Values by hand and from the specification's examples; shapes of all
// kinds against the plain loops.
#include "tests/ops/op_harness.h"

namespace hasten::test {
namespace {

Tensor u8(Dims dims, const std::vector<double>& values) {
  return numbers(DType::kU8, std::move(dims), values);
}
Tensor i8(Dims dims, const std::vector<double>& values) {
  return numbers(DType::kI8, std::move(dims), values);
}
Tensor i32(Dims dims, const std::vector<double>& values) {
  return numbers(DType::kI32, std::move(dims), values);
}
Tensor random_bytes(DType dtype, Dims dims, uint32_t seed) {
  const double low = dtype == DType::kI8 ? -128 : 0;
  return random_tensor(dtype, std::move(dims), low, low + 256, seed);
}
using Ints = std::vector<int64_t>;

TEST(ConvInteger, ExampleOfTheSpecification) {
  const Tensor x = u8({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10}),
               w = u8({1, 1, 2, 2}, {1, 1, 1, 1});
  check_op(make_case("ConvInteger", 10, {x, w, u8({}, {1})}), i32({1, 1, 2, 2}, {12, 16, 24, 28}),
           "conv_s32");
  // Padding is the zero point.
  check_op(make_case("ConvInteger", 10, {x, w, u8({}, {1})}, {{"pads", Ints{1, 1, 1, 1}}}),
           i32({1, 1, 4, 4}, {1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9}), "conv_s32");
}

TEST(ConvInteger, SignedWeightsDoNotSaturate) {
  const std::vector<double> full(64, 255);
  check_op(make_case("ConvInteger", 10,
                     {u8({1, 64, 1, 1}, full), i8({2, 64, 1, 1}, std::vector<double>(128, -128))}),
           i32({1, 2, 1, 1}, {-2088960, -2088960}), "conv_s32");
}

struct Shape4 {
  Dims x, w;
  Attrs attrs;
};

std::vector<Shape4> shapes() {
  const auto group = [](int64_t n) { return std::pair<std::string, Attr>("group", n); };
  return {
      {{2, 3, 9, 11}, {20, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}},
      {{1, 7, 9, 9}, {70, 7, 1, 1}, {}},
      {{1, 16, 12, 13}, {33, 16, 3, 2}, {{"strides", Ints{2, 1}}, {"dilations", Ints{1, 2}}}},
      {{2, 8, 7, 7}, {12, 2, 3, 3}, {group(4), {"auto_pad", std::string("SAME_UPPER")}}},
      {{1, 6, 8, 8},
       {6, 2, 3, 3},
       {group(3), {"auto_pad", std::string("SAME_LOWER")}, {"strides", Ints{2, 2}}}},
      {{2, 19, 8, 9}, {19, 1, 3, 3}, {group(19), {"pads", Ints{1, 2, 0, 1}}}},
      {{1, 32, 8, 9},
       {32, 1, 5, 5},
       {group(32), {"pads", Ints{2, 2, 2, 2}}, {"strides", Ints{2, 2}}}},
      {{1, 4, 8, 9}, {8, 1, 3, 3}, {group(4)}},
      {{2, 5, 30}, {17, 5, 4}, {{"pads", Ints{3, 1}}}},
      {{1, 3, 5, 6, 7}, {18, 3, 2, 3, 2}, {{"pads", Ints{1, 0, 1, 0, 1, 0}}}},
      {{1, 4, 1, 1}, {4, 4, 1, 1}, {}},
      {{0, 3, 5, 5}, {4, 3, 3, 3}, {}},
  };
}
const char* kernel_of(const Shape4& s) {
  return s.w[1] == 1 && s.w[0] == s.x[1] && s.w[0] > 1 ? "conv_depthwise_s32" : "conv_s32";
}

TEST(ConvInteger, ShapesAndZeroPoints) {
  uint32_t seed = 1;
  for (const Shape4& s : shapes()) {
    for (const DType x : {DType::kU8, DType::kI8}) {
      for (const DType w : {DType::kU8, DType::kI8}) {
        for (const Dims& zeros : {Dims{}, Dims{s.w[0]}}) {
          OpCase c = make_case("ConvInteger", 10,
                               {random_bytes(x, s.x, ++seed), random_bytes(w, s.w, ++seed),
                                random_bytes(x, {}, ++seed), random_bytes(w, zeros, ++seed)},
                               s.attrs);
          check_op(c, kernel_of(s));
          c.constant = {false, false, false, false};
          check_op(c, kernel_of(s));
        }
      }
    }
    check_op(
        make_case("ConvInteger", 10,
                  {random_bytes(DType::kU8, s.x, ++seed), random_bytes(DType::kI8, s.w, ++seed)},
                  s.attrs),
        kernel_of(s));
  }
}

TEST(ConvInteger, FourSpatialAxesRunOnTheReference) {
  check_op(make_case("ConvInteger", 10,
                     {random_bytes(DType::kU8, {1, 2, 3, 3, 3, 3}, 1),
                      random_bytes(DType::kU8, {2, 2, 2, 2, 2, 2}, 2)}),
           "");
}

TEST(ConvInteger, Errors) {
  const Tensor x = random_bytes(DType::kU8, {1, 4, 5, 5}, 1),
               w = random_bytes(DType::kI8, {6, 4, 3, 3}, 2);
  const auto with = [&](std::vector<Tensor> more, Attrs attrs = {}) {
    std::vector<Tensor> in = {x, w};
    in.insert(in.end(), more.begin(), more.end());
    return make_case("ConvInteger", 10, in, std::move(attrs));
  };
  check_error(with({}, {{"group", int64_t{0}}}), Code::kInvalidModel, "group is 0");
  check_error(with({}, {{"strides", Ints{0, 1}}}), Code::kInvalidModel, "strides");
  check_error(with({u8({2}, {1, 2})}), Code::kInvalidModel, "scalar");
  check_error(with({u8({}, {1}), i8({4}, {1, 2, 3, 4})}), Code::kInvalidModel,
              "each output channel of i8[6,4,3,3]");
  check_error(with({u8({}, {1}), u8({}, {1})}), Code::kInvalidModel, "zero point has dtype u8");
}

/// Weights of three channels on a 2 x 2 image.
OpCase three_channels(Tensor w_zero, Tensor bias) {
  return make_case("QLinearConv", 10,
                   {u8({1, 1, 2, 2}, {200, 100, 50, 255}), floats({}, {.02f}), u8({}, {10}),
                    i8({3, 1, 1, 1}, {127, -128, 0}), floats({3}, {.01f, .02f, .5f}),
                    std::move(w_zero), floats({}, {.05f}), u8({}, {128}), std::move(bias)});
}

TEST(QLinearConv, ByChannel) {
  const Tensor bias = i32({3}, {100, -100, 7});
  check_op(three_channels(i8({}, {0}), bias),
           u8({1, 3, 2, 2}, {225, 174, 149, 253, 0, 35, 86, 0, 129, 129, 129, 129}), "conv_s32");
  check_op(three_channels(i8({3}, {0, 0, 0}), bias),
           u8({1, 3, 2, 2}, {225, 174, 149, 253, 0, 35, 86, 0, 129, 129, 129, 129}), "conv_s32");
  check_op(three_channels(i8({3}, {0, 1, 2}), bias),
           u8({1, 3, 2, 2}, {225, 174, 149, 253, 0, 34, 86, 0, 53, 93, 113, 31}), "conv_s32");
  // Without bias: 128 + round((x - 10) * w * scale of the weight * 0.4).
  check_op(three_channels(i8({}, {0}), {}),
           u8({1, 3, 2, 2}, {225, 174, 148, 252, 0, 36, 87, 0, 128, 128, 128, 128}), "conv_s32");
}

TEST(QLinearConv, Shapes) {
  uint32_t seed = 1;
  for (const Shape4& s : shapes()) {
    for (const DType y : {DType::kU8, DType::kI8}) {
      const DType x = seed % 2 ? DType::kU8 : DType::kI8;
      std::vector<Tensor> in = {
          random_bytes(x, s.x, ++seed),
          floats({}, {.02f}),
          random_bytes(x, {}, ++seed),
          random_bytes(DType::kI8, s.w, ++seed),
          random_floats({s.w[0]}, ++seed, .001, .01),
          numbers(DType::kI8, {s.w[0]}, std::vector<double>(static_cast<size_t>(s.w[0]), 0)),
          floats({}, {.3f}),
          random_bytes(y, {}, ++seed),
          random_tensor(DType::kI32, {s.w[0]}, -9999, 9999, ++seed)};
      check_op(make_case("QLinearConv", 10, in, s.attrs), kernel_of(s));
      OpCase plain = make_case("QLinearConv", 10, in, s.attrs);
      plain.constant.assign(9, false);
      check_op(plain, kernel_of(s));
      in[4] = floats({}, {.01f});
      in[5] = i8({}, {3});
      in.pop_back();
      check_op(make_case("QLinearConv", 10, in, s.attrs), kernel_of(s));
    }
  }
}

}  // namespace
}  // namespace hasten::test
