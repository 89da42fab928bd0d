#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Shape, GivesASliceOfTheDims) {
  const Tensor x = random_floats({2, 0, 4});
  const auto shape = [&](int64_t start, int64_t end) {
    return make_case("Shape", 15, {x}, {{"start", start}, {"end", end}});
  };
  check_op(make_case("Shape", 13, {x}), ints({3}, {2, 0, 4}), "constant");
  check_op(shape(1, 3), ints({2}, {0, 4}), "constant");
  check_op(shape(-1, 100), ints({1}, {4}), "constant");
  check_op(shape(-100, -1), ints({2}, {2, 0}), "constant");
  check_op(shape(2, 1), ints({0}, {}), "constant");
  check_op(make_case("Size", 13, {x}), ints({}, {0}), "constant");
  check_op(make_case("Size", 13, {random_floats({2, 3})}), ints({}, {6}), "constant");
}

TEST(Shape, InfersSymbols) {
  const Facts x = shaped(DType::kF32, {sym("batch"), Dim(3)});
  EXPECT_EQ(infer_text("Shape", 15, {x}), "i64[2] = {batch,3}");
  EXPECT_EQ(infer_text("Shape", 15, {x}, {{"start", int64_t{-1}}}), "i64[1] = {3}");
  EXPECT_EQ(infer_text("Shape", 15, {unshaped(DType::kF32)}), "i64[?]");
  EXPECT_EQ(infer_text("Size", 13, {shaped(DType::kF32, {sym("batch"), Dim(1)})}),
            "i64[] = {batch}");
}

}  // namespace
}  // namespace hasten::test
