#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

Tensor bools(std::vector<double> values) {
  const auto n = static_cast<int64_t>(values.size());
  return numbers(DType::kBool, {n}, values);
}

TEST(Compress, KeepsWhereTrue) {
  const Tensor x = ints({2, 3}, {1, 2, 3, 4, 5, 6});
  check_op(make_case("Compress", 11, {x, bools({0, 1})}, {{"axis", int64_t{0}}}),
           ints({1, 3}, {4, 5, 6}));
  check_op(make_case("Compress", 11, {x, bools({0, 1, 1})}, {{"axis", int64_t{-1}}}),
           ints({2, 2}, {2, 3, 5, 6}));
  check_op(make_case("Compress", 9, {x, bools({0, 1, 0, 0, 1})}), ints({2}, {2, 5}));
  check_op(make_case("Compress", 9, {x, bools({0, 1, 0, 0, 0, 0, 1})}), ints({1}, {2}));
  check_error(make_case("Compress", 9, {x, ints({1}, {1})}), Code::kInvalidModel, "must be bool");
  EXPECT_EQ(
      infer_text("Compress", 9, {shaped(DType::kF32, {sym("n")}), shaped(DType::kBool, {Dim(3)})}),
      "f32[?]");
}

}  // namespace
}  // namespace hasten::test
