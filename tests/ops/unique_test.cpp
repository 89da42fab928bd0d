#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Unique, FourOutputs) {
  const Tensor x = floats({6}, {2, 1, NAN, 1, 3, NAN});
  auto got = check_op(make_case("Unique", 11, {x}, {}, 4));
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(difference(got[0], floats({4}, {1, 2, 3, NAN})), "");
  EXPECT_EQ(difference(got[1], ints({4}, {1, 0, 4, 2})), "");
  EXPECT_EQ(difference(got[2], ints({6}, {1, 0, 3, 0, 2, 3})), "");
  EXPECT_EQ(difference(got[3], ints({4}, {2, 1, 1, 2})), "");
  got = check_op(make_case("Unique", 11, {x}, {{"sorted", int64_t{0}}}, 4));
  EXPECT_EQ(difference(got[0], floats({4}, {2, 1, NAN, 3})), "");
  EXPECT_EQ(difference(got[2], ints({6}, {0, 1, 2, 1, 3, 2})), "");
}

TEST(Unique, AlongAnAxis) {
  const Tensor x = ints({3, 2}, {2, 1, 0, 5, 2, 1});
  auto got = check_op(make_case("Unique", 11, {x}, {{"axis", int64_t{0}}}, 4));
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(difference(got[0], ints({2, 2}, {0, 5, 2, 1})), "");
  EXPECT_EQ(difference(got[1], ints({2}, {1, 0})), "");
  EXPECT_EQ(difference(got[2], ints({3}, {1, 0, 1})), "");
  EXPECT_EQ(difference(got[3], ints({2}, {1, 2})), "");
  check_op(make_case("Unique", 11, {floats({0}, {})}), floats({0}, {}));
  EXPECT_EQ(infer_text("Unique", 11, {shaped(DType::kF32, {sym("n"), Dim(2)})},
                       {{"axis", int64_t{1}}}, 2),
            "f32[n,?]; i64[?]");
}

}  // namespace
}  // namespace hasten::test
