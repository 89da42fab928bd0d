#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Squeeze, DropsAxesOfOne) {
  const Tensor x = ints({1, 2, 1}, {3, 4});
  check_op(make_case("Squeeze", 13, {x}), ints({2}, {3, 4}), "alias");
  check_op(make_case("Squeeze", 13, {x, ints({1}, {-1})}), ints({1, 2}, {3, 4}), "alias");
  check_op(make_case("Squeeze", 11, {x}, {{"axes", std::vector<int64_t>{0}}}), ints({2, 1}, {3, 4}),
           "alias");
}

TEST(Squeeze, RefusesOtherAxes) {
  const Tensor x = ints({1, 2, 1}, {3, 4});
  check_error(make_case("Squeeze", 13, {x, ints({1}, {1})}), Code::kInvalidModel,
              "axis 1 of [1,2,1] has 2 elements");
  check_error(make_case("Squeeze", 13, {x, ints({2}, {0, -3})}), Code::kInvalidModel, "twice");
  check_error(make_case("Squeeze", 13, {x, ints({1}, {3})}), Code::kInvalidModel,
              "outside [-3, 2]");
}

TEST(Unsqueeze, AddsAxes) {
  const Tensor x = ints({2}, {3, 4});
  check_op(make_case("Unsqueeze", 13, {x, ints({2}, {-1, 0})}), ints({1, 2, 1}, {3, 4}), "alias");
  check_op(make_case("Unsqueeze", 11, {x}, {{"axes", std::vector<int64_t>{2, 0}}}),
           ints({1, 2, 1}, {3, 4}), "alias");
  check_error(make_case("Unsqueeze", 13, {x, ints({1}, {2})}), Code::kInvalidModel,
              "outside [-2, 1]");
  check_error(make_case("Unsqueeze", 11, {x}), Code::kInvalidModel, "axes are missing");
}

TEST(Squeeze, InfersSymbols) {
  const Facts x = shaped(DType::kF32, {sym("batch"), Dim(1), Dim(3)});
  EXPECT_EQ(infer_text("Squeeze", 13, {x, known(ints({1}, {1}))}), "f32[batch,3]");
  EXPECT_EQ(infer_text("Squeeze", 13, {x}), "f32[...]");
  EXPECT_EQ(infer_text("Unsqueeze", 13, {x, known(ints({1}, {0}))}), "f32[1,batch,1,3]");
  EXPECT_EQ(infer_text("Unsqueeze", 13, {known(ints({}, {7})), known(ints({1}, {0}))}),
            "i64[1] = {7}");
  EXPECT_EQ(infer_text("Squeeze", 13, {known_dims({sym("batch")})}), "i64[] = {batch}");
}

}  // namespace
}  // namespace hasten::test
