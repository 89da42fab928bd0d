#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

constexpr Tolerance kClose{2e-6, 2e-6};

OpCase sample(const std::string& mode, const std::string& padding, int64_t corners,
              int64_t opset = 20) {
  const Tensor x = floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor grid = floats({1, 2, 2, 2}, {-1.3f, -0.7f, 0.1f, 0.3f, 0.9f, 1.4f, 0.5f, -0.25f});
  return make_case("GridSample", opset, {x, grid},
                   {{"mode", mode}, {"padding_mode", padding}, {"align_corners", corners}});
}

TEST(GridSample, AgreesWithOnnx) {
  // From ONNX's own implementation; onnxruntime agrees except for cubic with border, where it does
  // not clamp the position.
  const auto is = [](const char* mode, const char* padding, int64_t corners, std::vector<float> y) {
    SCOPED_TRACE(fmt::format("{} {} {}", mode, padding, corners));
    check_op(sample(mode, padding, corners), floats({1, 1, 2, 2}, std::move(y)), "", kClose);
  };
  is("linear", "zeros", 0, {0.0475000702f, 6.5f, 0, 4.625f});
  is("linear", "zeros", 1, {1.33000016f, 6, 5.33999872f, 4.75f});
  is("linear", "border", 0, {1, 6.5f, 9, 4.625f});
  is("linear", "border", 1, {1.9f, 6, 8.9f, 4.75f});
  is("linear", "reflection", 0, {1, 6.5f, 8.69999886f, 4.625f});
  is("linear", "reflection", 1, {2.20000005f, 6, 7.69999886f, 4.75f});
  is("cubic", "zeros", 0, {0.0320635363f, 7.65272856f, -0.371454269f, 5.08797646f});
  is("cubic", "zeros", 1, {1.17936122f, 6.74649811f, 6.14023924f, 5.16784668f});
  is("cubic", "border", 0, {0.898468852f, 6.84669018f, 9.11090851f, 4.39794922f});
  is("cubic", "border", 1, {1.69525003f, 6.3105011f, 8.92475128f, 4.59765625f});
  is("cubic", "reflection", 0, {0.857497156f, 6.84669018f, 8.94487572f, 4.39794922f});
  is("cubic", "reflection", 1, {1.48600125f, 6.45900154f, 8.3614998f, 4.5859375f});
  is("nearest", "zeros", 0, {0, 5, 0, 6});
  is("nearest", "reflection", 1, {1, 5, 9, 6});
  check_op(sample("bilinear", "zeros", 0, 16),
           floats({1, 1, 2, 2}, {0.0475000702f, 6.5f, 0, 4.625f}), "", kClose);
}

TEST(GridSample, TakesEveryPosition) {
  const Tensor wild =
      floats({1, 1, 5, 2}, {NAN, 0, HUGE_VALF, -HUGE_VALF, 3e38f, -3e38f, 0, NAN, -1, 1});
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      for (const int64_t corners : {0, 1}) {
        const Attrs attrs = {{"mode", std::string(mode)},
                             {"padding_mode", std::string(padding)},
                             {"align_corners", corners}};
        for (const Dims& dims : {Dims{1, 2, 3, 3}, Dims{1, 1, 1, 1}, Dims{1, 1, 0, 3}}) {
          const auto y =
              check_op(make_case("GridSample", 20, {random_floats(dims), wild}, attrs), "");
          ASSERT_EQ(y.size(), 1u);
          for (const double v : numbers_of(y[0])) EXPECT_TRUE(std::isfinite(v)) << mode << padding;
        }
      }
    }
  }
  // 5-D, integers, nearest: the element itself.
  check_op(make_case("GridSample", 20,
                     {ints({1, 1, 1, 1, 2}, {INT64_MAX, 7}),
                      floats({1, 1, 1, 2, 3}, {-0.5f, 0, 0, 0.5f, 0, 0})},
                     {{"mode", std::string("nearest")}}),
           ints({1, 1, 1, 1, 2}, {INT64_MAX, 7}));
}

TEST(GridSample, RefusesByVersion) {
  check_error(sample("bilinear", "zeros", 0, 20), Code::kInvalidModel, "mode is 'bilinear'");
  check_error(sample("linear", "zeros", 0, 16), Code::kInvalidModel, "mode is 'linear'");
  check_error(sample("linear", "wrap", 0), Code::kInvalidModel, "padding_mode is 'wrap'");
  check_error(
      make_case("GridSample", 20, {random_floats({1, 1, 2, 2}), random_floats({1, 2, 2, 3})}),
      Code::kInvalidModel, "grid is f32[1,2,2,3]");
  check_error(make_case("GridSample", 16, {random_floats({1, 1, 2}), random_floats({1, 2, 1})}),
              Code::kInvalidModel, "it must have rank 4");
}

TEST(AffineGrid, AgreesWithOnnxruntime) {
  const Tensor theta = floats({1, 2, 3}, {1, 0.5f, 0, 0, 2, -1});
  check_op(make_case("AffineGrid", 20, {theta, ints({4}, {1, 1, 2, 3})},
                     {{"align_corners", int64_t{1}}}),
           floats({1, 2, 3, 2}, {-1.5f, -3, -0.5f, -3, 0.5f, -3, -0.5f, 1, 0.5f, 1, 1.5f, 1}), "",
           kClose);
  check_op(make_case("AffineGrid", 20, {theta, ints({4}, {1, 1, 2, 2})}),
           floats({1, 2, 2, 2}, {-0.75f, -2, 0.25f, -2, -0.25f, 0, 0.75f, 0}), "", kClose);
  check_op(make_case("AffineGrid", 20, {theta, ints({4}, {1, 1, 1, 1})},
                     {{"align_corners", int64_t{1}}}),
           floats({1, 1, 1, 2}, {0, -1}));
  check_op(make_case("AffineGrid", 20, {theta, ints({4}, {1, 1, 0, 2})}), floats({1, 0, 2, 2}, {}));
  check_error(make_case("AffineGrid", 20, {theta, ints({5}, {1, 1, 2, 2, 2})}), Code::kInvalidModel,
              "it must be [1,3,4]");
  check_error(make_case("AffineGrid", 20, {theta, ints({4}, {1, 1, -2, 2})}), Code::kInvalidModel,
              "negative");
}

}  // namespace
}  // namespace hasten::test
