#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

using Ints = std::vector<int64_t>;

TEST(DeformConv, AgreesWithOnnxruntimeAndTheReferenceEvaluator) {
  // Two groups of channels and of offsets, a mask, and every attribute off its default.
  const Tensor x =
      floats({1, 4, 3, 4}, {3, -4, -3, -2, -3, 3,  3, 1,  -4, -4, -2, -1, 1,  0,  -2, -3,
                            2, 2,  -4, -3, 0,  -1, 3, 0,  -1, -1, 1,  1,  -3, 2,  2,  4,
                            3, -2, -2, 1,  1,  2,  3, -2, 4,  -4, -4, 4,  4,  -2, -3, -2});
  const Tensor w = floats({2, 2, 2, 2}, {-3, 3, 1, 1, -2, 0, -2, 2, 0, -3, -2, 1, 0, -1, -2, -3});
  const Tensor offset =
      floats({1, 16, 2, 3},
             {0.25f, 0.5f,   0,      1.5f,   1.5f,  -1,     0.25f,  0.5f,   -0.75f, -0.75f, 0,
              0.75f, -0.75f, 0.75f,  0.5f,   -1,    -0.25f, 1,      1,      0.5f,   -1.5f,  0.5f,
              -1,    1,      1.25f,  -0.25f, 1.5f,  0.75f,  -0.5f,  1.25f,  -0.5f,  -1.25f, 0.25f,
              1.25f, 0.5f,   -0.25f, 1.25f,  0,     -0.25f, -1.25f, -1,     0.75f,  1,      -0.75f,
              0.5f,  1.25f,  -1.25f, -0.75f, 0,     0.25f,  -0.25f, -0.25f, -1.25f, 0.25f,  1.5f,
              -1,    1,      -1,     -1.5f,  0.75f, -1,     0.75f,  -0.5f,  0.25f,  1.5f,   1.25f,
              0,     -1,     -0.75f, 1.25f,  0.25f, -1,     1.25f,  1.5f,   1.5f,   0.5f,   1.5f,
              0.25f, 0,      1.5f,   0.25f,  1,     -0.5f,  1,      1.5f,   -1.5f,  0,      -0.5f,
              -1.5f, -1.25f, -0.75f, -1,     0.75f, -1,     0.5f,   1.25f});
  const Tensor mask =
      floats({1, 8, 2, 3},
             {0.5f, 0,     0,     0.25f, 0.5f, 0.5f,  0.25f, 1,    0.5f,  1,     1,     0.75f,
              0,    0.25f, 0.75f, 0.5f,  1,    0.75f, 1,     0,    0.25f, 0.75f, 0.75f, 0.25f,
              0,    0.5f,  0,     0.75f, 1,    0.75f, 0,     0.5f, 0.25f, 0.5f,  0.75f, 0,
              0,    0.5f,  0.75f, 0,     1,    0.5f,  1,     0.5f, 0.75f, 0.75f, 0.5f,  0.25f});
  check_op(make_case("DeformConv", 19, {x, w, offset, floats({2}, {1, -2}), mask},
                     {{"pads", Ints{1, 0, 0, 1}},
                      {"strides", Ints{2, 1}},
                      {"dilations", Ints{1, 2}},
                      {"group", int64_t{2}},
                      {"offset_group", int64_t{2}}}),
           floats({1, 2, 2, 3}, {-3.65625f, -1.109375f, 0.53125f, -9.796875f, 7.5f, 7.078125f,
                                 7.375f, -4.25f, 0.625f, 0.15625f, -2.40625f, -1.25f}));
}

OpCase row(std::vector<float> x, std::vector<float> offset, Attrs attrs = {}) {
  const auto n = static_cast<int64_t>(x.size());
  const auto m = static_cast<int64_t>(offset.size()) / 2;
  return make_case(
      "DeformConv", 19,
      {floats({1, 1, n}, std::move(x)), floats({1, 1, 2}, {1, 10}), floats({1, 2, m}, offset)},
      std::move(attrs));
}

TEST(DeformConv, OneAxisAndItsEnds) {
  check_op(row({1, 2, 4}, {0, 0, 0, 0}), floats({1, 1, 2}, {21, 42}));
  // Between two pixels, between the last pixel and the zeros behind it, and outside.
  check_op(row({1, 2, 4}, {0.5f, -5, 0, 0.25f}), floats({1, 1, 2}, {1.5f + 20, 30}));
  check_op(row({1, 2, 4}, {NAN, INFINITY, -1e30f, -1}), floats({1, 1, 2}, {0, 20}));
  // What has no weight does not count.
  check_op(row({1, INFINITY, NAN}, {0, -1, -1, -2}), floats({1, 1, 2}, {11, 11}));
  check_op(row({5}, {0, 0, 0, -1}, {{"pads", Ints{1, 1}}}), floats({1, 1, 2}, {50, 55}));
}

TEST(DeformConv, RefusesWhatDoesNotFit) {
  const auto fails = [](Dims offset, Dims mask, int64_t groups, const char* message) {
    check_error(make_case("DeformConv", 19,
                          {Tensor::make(DType::kF32, {2, 4, 3, 3}).value(),
                           Tensor::make(DType::kF32, {1, 4, 2, 2}).value(),
                           Tensor::make(DType::kF32, std::move(offset)).value(), Tensor(),
                           Tensor::make(DType::kF32, std::move(mask)).value()},
                          {{"offset_group", groups}}),
                Code::kInvalidModel, message);
  };
  fails({2, 8, 2, 3}, {2, 4, 2, 2}, 1, "offset is f32[2,8,2,3], it must be [2,8,2,2]");
  fails({2, 8, 2, 2}, {2, 8, 2, 2}, 1, "mask is f32[2,8,2,2], it must be [2,4,2,2]");
  fails({1, 16, 2, 2}, {2, 8, 2, 2}, 2, "it must be [2,16,2,2]");
  fails({2, 24, 2, 2}, {2, 12, 2, 2}, 3, "4 channels, which 3 offset groups don't divide");
  fails({2, 8, 2, 2}, {2, 4, 2, 2}, 0, "offset_group is 0");
  EXPECT_EQ(infer_text("DeformConv", 19,
                       {shaped(DType::kF32, {sym("n"), 4, 5, 5}), shaped(DType::kF32, {6, 4, 3, 3}),
                        shaped(DType::kF32, {sym("m"), 18, 3, sym("w")})}),
            "f32[n,6,3,3]");
}

}  // namespace
}  // namespace hasten::test
