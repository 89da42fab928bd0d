#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase one_hot(const Tensor& indices, const Tensor& depth, int64_t axis, int64_t opset = 11) {
  return make_case("OneHot", opset, {indices, depth, floats({2}, {2, 5})}, {{"axis", axis}});
}

TEST(OneHot, OnAndOff) {
  check_op(one_hot(ints({3}, {0, -1, 7}), ints({}, {3}), -1),
           floats({3, 3}, {5, 2, 2, 2, 2, 5, 2, 2, 2}));
  check_op(one_hot(ints({2}, {0, 1}), floats({1}, {3}), 0), floats({3, 2}, {5, 2, 2, 5, 2, 2}));
  check_op(one_hot(floats({1}, {NAN}), ints({}, {2}), -1), floats({1, 2}, {2, 2}));
  // Before opset 11 negative indices are outside.
  check_op(one_hot(ints({1}, {-1}), ints({}, {2}), -1, 9), floats({1, 2}, {2, 2}));
  check_op(one_hot(ints({1}, {0}), ints({}, {0}), -1), floats({1, 0}, {}));
}

TEST(OneHot, RefusesWhatIsWrong) {
  check_error(one_hot(ints({1}, {0}), ints({}, {-2}), -1), Code::kInvalidModel, "depth is -2");
  check_error(one_hot(ints({1}, {0}), ints({2}, {2, 2}), -1), Code::kInvalidModel, "one element");
  check_error(one_hot(ints({1}, {0}), ints({}, {2}), 2), Code::kInvalidModel, "axis 2 is outside");
  EXPECT_EQ(infer_text("OneHot", 11,
                       {shaped(DType::kI64, {sym("n")}), known(ints({}, {4})),
                        shaped(DType::kI8, {Dim(2)})}),
            "i8[n,4]");
}

}  // namespace
}  // namespace hasten::test
