#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase transpose(const Tensor& x, std::vector<int64_t> perm) {
  return make_case("Transpose", 13, {x}, {{"perm", std::move(perm)}});
}

TEST(Transpose, Small) {
  check_op(transpose(ints({2, 3}, {1, 2, 3, 4, 5, 6}), {1, 0}), ints({3, 2}, {1, 4, 2, 5, 3, 6}),
           "transpose");
  check_op(make_case("Transpose", 7, {ints({1, 2, 2}, {1, 2, 3, 4})}),
           ints({2, 2, 1}, {1, 3, 2, 4}), "transpose");
  check_op(transpose(random_floats({}), {}), "alias");
  check_op(transpose(random_floats({2, 1, 3}), {1, 0, 2}), "alias");
  check_op(transpose(random_floats({2, 0, 3}), {2, 0, 1}), "copy");
}

TEST(Transpose, OfMatricesOfEveryElementSize) {
  for (const DType t : {DType::kU8, DType::kF16, DType::kF32, DType::kI64}) {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 9},
                                        {3, 50},
                                        {50, 3},
                                        {8, 8},
                                        {17, 33},
                                        {64, 300},
                                        {129, 515}}) {
      check_op(transpose(random_tensor(t, {rows, columns}, 0, 100), {1, 0}));
    }
  }
}

TEST(Transpose, OfAttentionAndImages) {
  check_op(transpose(random_floats({2, 9, 4, 32}), {0, 2, 1, 3}), "copy");
  check_op(transpose(random_floats({2, 9, 4, 32}), {0, 2, 3, 1}), "transpose");
  check_op(transpose(random_floats({2, 17, 13, 20}), {0, 2, 3, 1}), "transpose");
  check_op(transpose(random_floats({2, 13, 20, 3}), {0, 3, 1, 2}), "transpose");
  check_op(transpose(random_floats({3, 5, 2, 4, 3}), {2, 0, 3, 1, 4}), "copy");
  check_op(transpose(random_floats({2, 3, 2, 2, 3, 2}), {5, 3, 1, 4, 2, 0}));
}

TEST(Transpose, RefusesBadPermutations) {
  check_error(transpose(random_floats({2, 3}), {0}), Code::kInvalidModel, "perm [0] has 1 axes");
  check_error(transpose(random_floats({2, 3}), {0, 0}), Code::kInvalidModel, "axis 0 twice");
  check_error(transpose(random_floats({2, 3}), {0, 2}), Code::kInvalidModel, "axis 2 is outside");
}

TEST(Transpose, InfersSymbols) {
  EXPECT_EQ(infer_text("Transpose", 13, {shaped(DType::kF32, {sym("batch"), Dim(3), sym("h")})},
                       {{"perm", std::vector<int64_t>{2, 0, 1}}}),
            "f32[h,batch,3]");
}

}  // namespace
}  // namespace hasten::test
