#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

const Tensor kSeven = ints({7}, {1, 2, 3, 4, 5, 6, 7});

TEST(Split, GivenAndEqualParts) {
  auto parts = check_op(make_case("Split", 13, {kSeven, ints({3}, {2, 0, 5})}, {}, 3), "copy");
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(numbers_of(parts[0]), (std::vector<double>{1, 2}));
  EXPECT_EQ(numbers_of(parts[1]), (std::vector<double>{}));
  EXPECT_EQ(numbers_of(parts[2]), (std::vector<double>{3, 4, 5, 6, 7}));
  parts = check_op(
      make_case("Split", 2, {ints({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}, {{"axis", int64_t{-1}}}, 2),
      "copy");
  EXPECT_EQ(numbers_of(parts[1]), (std::vector<double>{3, 4, 7, 8}));
  parts = check_op(make_case("Split", 18, {kSeven}, {{"num_outputs", int64_t{4}}}, 4), "copy");
  EXPECT_EQ(parts[2].dims(), (Dims{2}));
  EXPECT_EQ(numbers_of(parts[3]), (std::vector<double>{7}));
}

TEST(Split, EveryElementSizeAndBlocked) {
  for (const DType t : {DType::kBool, DType::kF16, DType::kF32, DType::kU64}) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      check_op(make_case("Split", 13, {random_tensor(t, {4, 6, 8}, 0, 90)}, {{"axis", axis}}, 2),
               "copy");
    }
  }
}

TEST(Split, RefusesWhatDoesNotAddUp) {
  check_error(make_case("Split", 13, {kSeven, ints({2}, {2, 4})}, {}, 2), Code::kInvalidModel,
              "sum up to 6, the axis has 7");
  check_error(make_case("Split", 13, {kSeven, ints({2}, {8, -1})}, {}, 2), Code::kInvalidModel,
              "not those of parts");
  check_error(make_case("Split", 13, {kSeven}, {}, 2), Code::kInvalidModel, "2 equal parts");
  check_error(make_case("Split", 18, {kSeven}, {}, 2), Code::kInvalidModel, "neither");
  check_error(make_case("Split", 18, {kSeven}, {{"num_outputs", int64_t{3}}}, 2),
              Code::kInvalidModel, "num_outputs is 3");
}

TEST(Split, InfersSymbols) {
  const Facts x = shaped(DType::kF32, {sym("n"), Dim(6)});
  EXPECT_EQ(infer_text("Split", 13, {x}, {{"axis", int64_t{1}}}, 2), "f32[n,3]; f32[n,3]");
  EXPECT_EQ(infer_text("Split", 13, {x, known_dims({sym("a"), 2})}, {}, 2), "f32[a,6]; f32[2,6]");
  EXPECT_EQ(infer_text("Split", 13, {known_dims({sym("a"), 2})}, {}, 2),
            "i64[1] = {a}; i64[1] = {2}");
}

}  // namespace
}  // namespace hasten::test
