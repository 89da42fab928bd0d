#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(ArgMax, FirstOrLastOfEquals) {
  const Tensor x = floats({2, 3}, {1, 5, 5, NAN, 7, NAN});
  const auto arg = [&](const char* op, int64_t axis, int64_t keep, int64_t last) {
    return make_case(op, 13, {x},
                     {{"axis", axis}, {"keepdims", keep}, {"select_last_index", last}});
  };
  check_op(arg("ArgMax", 1, 1, 0), ints({2, 1}, {1, 0}));
  check_op(arg("ArgMax", -1, 0, 1), ints({2}, {2, 2}));
  check_op(arg("ArgMin", 1, 0, 0), ints({2}, {0, 0}));
  check_op(arg("ArgMin", 0, 0, 0), ints({3}, {1, 0, 1}));
  check_error(arg("ArgMin", 2, 0, 0), Code::kInvalidModel, "axis 2 is outside");
  check_error(make_case("ArgMax", 13, {floats({2, 0}, {})}, {{"axis", int64_t{1}}}),
              Code::kInvalidModel, "has no elements");
  EXPECT_EQ(infer_text("ArgMax", 13, {shaped(DType::kF32, {sym("n"), Dim(9)})}), "i64[1,9]");
}

}  // namespace
}  // namespace hasten::test
