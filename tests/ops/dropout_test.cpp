#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Dropout, DropsNothing) {
  const Tensor x = floats({3}, {1, 2, 3});
  check_op(make_case("Dropout", 7, {x}, {{"ratio", 0.9f}}), x, "alias");
  check_op(make_case("Dropout", 13, {x, floats({}, {0.9f})}), x, "alias");
  const auto got = check_op(make_case("Dropout", 13, {x}, {}, 2), "copy");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(difference(got[1], numbers(DType::kBool, {3}, {1, 1, 1})), "");
  EXPECT_EQ(difference(check_op(make_case("Dropout", 7, {x}, {}, 2))[1], floats({3}, {1, 1, 1})),
            "");
}

TEST(Dropout, Training) {
  const Tensor x = numbers(DType::kF16, {4000}, std::vector<double>(4000, 3));
  const Tensor yes = numbers(DType::kBool, {}, {1});
  const OpCase quarter =
      make_case("Dropout", 13, {x, floats({}, {0.25f}), yes}, {{"seed", int64_t{5}}}, 2);
  const auto got = check_op(quarter, "");
  ASSERT_EQ(got.size(), 2u);
  int kept = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    const bool stays = got[1].as<bool>()[i];
    kept += stays;
    ASSERT_EQ(number_at(got[0], i), stays ? 4 : 0);
  }
  EXPECT_NEAR(kept, 3000, 140);
  EXPECT_EQ(bit_difference(check_op(quarter, "")[1], got[1]), "");
  check_op(make_case("Dropout", 13, {x, floats({}, {0}), yes}), x, "");
  for (const float bad : {1.0f, -0.5f, NAN}) {
    check_error(make_case("Dropout", 13, {x, floats({}, {bad}), yes}), Code::kInvalidModel,
                "ratio is");
  }
}

}  // namespace
}  // namespace hasten::test
