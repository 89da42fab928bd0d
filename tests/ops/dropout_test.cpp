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

TEST(Dropout, RefusesTraining) {
  const Tensor x = floats({3}, {1, 2, 3}), yes = numbers(DType::kBool, {}, {1});
  check_error(make_case("Dropout", 13, {x, floats({}, {0.5f}), yes}), Code::kUnsupported,
              "training_mode with ratio 0.5");
  check_op(make_case("Dropout", 13, {x, floats({}, {0}), yes}), x, "alias");
}

}  // namespace
}  // namespace hasten::test
