#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(ConstantOfShape, FillsWithEveryDtype) {
  check_op(make_case("ConstantOfShape", 9, {ints({2}, {2, 1})}), floats({2, 1}, {0, 0}), "copy");
  for (const DType t : {DType::kU8, DType::kBF16, DType::kI32, DType::kF64, DType::kBool}) {
    const Tensor one = numbers(t, {1}, {1});
    check_op(make_case("ConstantOfShape", 20, {ints({2}, {300, 71})}, {{"value", one}}),
             numbers(t, {300, 71}, std::vector<double>(300 * 71, 1)), "copy");
  }
  check_op(make_case("ConstantOfShape", 9, {ints({0}, {})}, {{"value", ints({1}, {4})}}),
           ints({}, {4}), "copy");
  check_op(make_case("ConstantOfShape", 9, {ints({2}, {0, 3})}), floats({0, 3}, {}), "copy");
}

TEST(ConstantOfShape, RefusesWhatIsWrong) {
  check_error(make_case("ConstantOfShape", 9, {ints({1}, {-2})}), Code::kInvalidModel,
              "negative dimension -2");
  check_error(make_case("ConstantOfShape", 9, {ints({1}, {2})}, {{"value", ints({2}, {4, 4})}}),
              Code::kInvalidModel, "must be one element");
  check_error(make_case("ConstantOfShape", 9, {ints({2}, {INT64_MAX, 2})}), Code::kInvalidModel,
              "");
  EXPECT_EQ(infer_text("ConstantOfShape", 9, {known_dims({sym("batch"), Dim(2)})}), "f32[batch,2]");
  EXPECT_EQ(infer_text("ConstantOfShape", 9, {shaped(DType::kI64, {Dim(2)})}), "f32[?,?]");
}

}  // namespace
}  // namespace hasten::test
