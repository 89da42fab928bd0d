#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase cum_sum(const Tensor& x, int64_t axis, int64_t exclusive, int64_t reverse) {
  return make_case("CumSum", 14, {x, ints({}, {axis})},
                   {{"exclusive", exclusive}, {"reverse", reverse}});
}

TEST(CumSum, ExclusiveAndReverse) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  check_op(cum_sum(x, 1, 0, 0), floats({2, 3}, {1, 3, 6, 4, 9, 15}));
  check_op(cum_sum(x, -2, 0, 0), floats({2, 3}, {1, 2, 3, 5, 7, 9}));
  check_op(cum_sum(x, 1, 1, 0), floats({2, 3}, {0, 1, 3, 0, 4, 9}));
  check_op(cum_sum(x, 1, 0, 1), floats({2, 3}, {6, 5, 3, 15, 11, 6}));
  check_op(cum_sum(x, 1, 1, 1), floats({2, 3}, {5, 3, 0, 11, 6, 0}));
  check_op(cum_sum(ints({2}, {INT64_MAX, 1}), 0, 0, 0), ints({2}, {INT64_MAX, INT64_MIN}));
  check_error(cum_sum(x, 2, 0, 0), Code::kInvalidModel, "axis 2 is outside");
  check_error(cum_sum(numbers(DType::kI8, {1}, {1}), 0, 0, 0), Code::kInvalidModel, "dtype i8");
}

}  // namespace
}  // namespace hasten::test
