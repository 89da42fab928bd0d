#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Range, EveryDtype) {
  const auto range = [](DType t, double start, double limit, double delta) {
    return make_case("Range", 11,
                     {numbers(t, {}, {start}), numbers(t, {}, {limit}), numbers(t, {}, {delta})});
  };
  for (const DType t : {DType::kF32, DType::kF64, DType::kI16, DType::kI32, DType::kI64}) {
    check_op(range(t, 1, 5, 2), numbers(t, {2}, {1, 3}), "range");
    check_op(range(t, 10, 4, -2), numbers(t, {3}, {10, 8, 6}), "range");
    check_op(range(t, 3, 3, 1), numbers(t, {0}, {}), "range");
    check_op(range(t, 3, 5, -1), numbers(t, {0}, {}), "range");
    check_error(range(t, 0, 1, 0), Code::kInvalidModel, "delta is 0");
  }
  check_op(
      make_case("Range", 11, {ints({}, {INT64_MIN}), ints({}, {INT64_MAX}), ints({}, {INT64_MAX})}),
      ints({3}, {INT64_MIN, -1, INT64_MAX - 1}), "range");
  check_error(make_case("Range", 11, {ints({}, {INT64_MIN}), ints({}, {INT64_MAX}), ints({}, {1})}),
              Code::kInvalidModel, "too many");
  check_error(range(DType::kF32, 0, NAN, 1), Code::kInvalidModel, "no length");
}

TEST(Range, InfersSymbols) {
  const Facts zero = known(ints({}, {0})), one = known(ints({}, {1}));
  Facts n = known(ints({}, {sym("n").code()}));
  EXPECT_EQ(infer_text("Range", 11, {zero, n, one}), "i64[n]");
  EXPECT_EQ(infer_text("Range", 11, {one, n, one}), "i64[?]");
  EXPECT_EQ(infer_text("Range", 11, {zero, known(ints({}, {2})), one}), "i64[2] = {0,1}");
}

}  // namespace
}  // namespace hasten::test
