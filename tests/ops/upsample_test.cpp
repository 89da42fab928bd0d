#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Upsample, NearestAndLinear) {
  const Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor scales = floats({4}, {1, 1, 2, 3});
  const Tensor nearest = floats(
      {1, 1, 4, 6}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4});
  check_op(make_case("Upsample", 9, {x, scales}), nearest, "map_axes");
  check_op(make_case("Upsample", 7, {x}, {{"scales", std::vector<float>{1, 1, 2, 3}}}), nearest,
           "map_axes");
  // Onnx Runtime 1.32 gives the same.
  check_op(
      make_case("Upsample", 9, {x, floats({4}, {1, 1, 2, 2})}, {{"mode", std::string("linear")}}),
      floats({1, 1, 4, 4}, {1, 1.5f, 2, 2, 2, 2.5f, 3, 3, 3, 3.5f, 4, 4, 3, 3.5f, 4, 4}),
      "resample_f32", {1e-6, 0});
}

TEST(Upsample, OnlyEnlarges) {
  const Tensor x = floats({1, 2}, {1, 2});
  check_error(make_case("Upsample", 9, {x, floats({2}, {1, 0.5f})}), Code::kInvalidModel,
              "scale 0.5 of axis 1 is below 1");
  check_error(make_case("Upsample", 7, {x}), Code::kInvalidModel, "'scales' is missing");
  EXPECT_EQ(infer_text("Upsample", 9,
                       {shaped(DType::kF32, {sym("n"), Dim(3)}), known(floats({2}, {1, 2}))}),
            "f32[n,6]");
}

}  // namespace
}  // namespace hasten::test
