#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(NonZero, ColumnsAreIndices) {
  check_op(make_case("NonZero", 13, {ints({2, 2}, {1, 0, 3, 4})}),
           ints({2, 3}, {0, 1, 1, 0, 0, 1}));
  check_op(make_case("NonZero", 13, {floats({4}, {-0.0f, NAN, 0, 1e-45f})}), ints({1, 2}, {1, 3}));
  const std::vector<std::string> words{"", "0", "a"};
  check_op(make_case("NonZero", 13, {Tensor::of<std::string>(DType::kString, {3}, words)}),
           ints({1, 2}, {1, 2}));
  check_op(make_case("NonZero", 13, {floats({0, 2}, {})}), ints({2, 0}, {}));
  check_op(make_case("NonZero", 13, {ints({}, {3})}), ints({0, 1}, {}));
  EXPECT_EQ(infer_text("NonZero", 13, {shaped(DType::kF32, {sym("n"), Dim(3)})}), "i64[2,?]");
}

}  // namespace
}  // namespace hasten::test
