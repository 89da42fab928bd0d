#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Flatten, AroundEachAxis) {
  const Tensor x = random_floats({2, 3, 4});
  const std::pair<int64_t, Dims> cases[] = {{0, {1, 24}}, {1, {2, 12}}, {2, {6, 4}},
                                            {3, {24, 1}}, {-1, {6, 4}}, {-3, {1, 24}}};
  for (const auto& [axis, dims] : cases) {
    check_op(make_case("Flatten", 13, {x}, {{"axis", axis}}), x.reshaped(dims), "alias");
  }
  check_op(make_case("Flatten", 13, {random_floats({}, 1)}, {{"axis", int64_t{0}}}),
           random_floats({}, 1).reshaped({1, 1}), "alias");
  check_error(make_case("Flatten", 13, {x}, {{"axis", int64_t{4}}}), Code::kInvalidModel,
              "axis 4 is outside [-3, 3]");
}

TEST(Flatten, InfersSymbols) {
  const Facts x = shaped(DType::kF32, {sym("batch"), Dim(3), sym("h")});
  EXPECT_EQ(infer_text("Flatten", 13, {x}), "f32[batch,?]");
  EXPECT_EQ(infer_text("Flatten", 13, {x}, {{"axis", int64_t{0}}}), "f32[1,?]");
  EXPECT_EQ(infer_text("Flatten", 13, {shaped(DType::kF32, {sym("batch"), Dim(3), Dim(4)})}),
            "f32[batch,12]");
  EXPECT_EQ(infer_text("Flatten", 13, {unshaped(DType::kF32)}), "f32[?,?]");
}

}  // namespace
}  // namespace hasten::test
