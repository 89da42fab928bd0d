#include "tests/ops/op_harness.h"

namespace hasten::test {

TEST(Shrink, PullsTowardsZeroByTheBias) {
  const Tensor x = floats({5}, {-2, -1, 0, 1, 2});
  // The examples of the specification: hard and soft.
  check_op(make_case("Shrink", 9, {x}, {{"lambd", 1.5f}}), floats({5}, {-2, 0, 0, 0, 2}),
           "shrink_f32");
  check_op(make_case("Shrink", 9, {x}, {{"lambd", 1.5f}, {"bias", 1.5f}}),
           floats({5}, {-0.5f, 0, 0, 0, 0.5f}), "shrink_f32");
  // lambd is 0.5 and bias 0 by default; the edges themselves are 0.
  check_op(make_case("Shrink", 21, {floats({4}, {-0.75f, -0.5f, 0.5f, 0.75f})}),
           floats({4}, {-0.75f, 0, 0, 0.75f}), "shrink_f32");
}

TEST(Shrink, OfNanIsZeroAndOfInfinityInfinity) {
  check_op(make_case("Shrink", 9, {floats({3}, {NAN, HUGE_VALF, -HUGE_VALF})}, {{"bias", 1.0f}}),
           floats({3}, {0, HUGE_VALF, -HUGE_VALF}), "shrink_f32");
}

TEST(Shrink, BelowComesFirstWhereLambdIsNegative) {
  // numpy: where(x < 1, x + 2, where(x > -1, x - 2, 0))
  check_op(make_case("Shrink", 9, {floats({4}, {-3, 0, 1, 3})}, {{"lambd", -1.0f}, {"bias", 2.0f}}),
           floats({4}, {-1, 2, -1, 1}), "shrink_f32");
  OpCase c =
      make_case("Shrink", 9, {random_floats({1, 19, 2, 3})}, {{"lambd", -1.0f}, {"bias", 2.0f}});
  c.in_layouts = {Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  check_op(c, "shrink_f32");
}

TEST(Shrink, ServesEveryNumber) {
  const Attrs attrs = {{"lambd", 1.5f}, {"bias", 0.5f}};
  for (const DType dtype : {DType::kI8, DType::kI16, DType::kI32, DType::kI64}) {
    // numpy: (x ± 0.5).astype(x.dtype)
    check_op(make_case("Shrink", 9, {numbers(dtype, {5}, {-3, -1, 0, 1, 4})}, attrs),
             numbers(dtype, {5}, {-2, 0, 0, 0, 3}), "");
  }
  for (const DType dtype : {DType::kU8, DType::kU16, DType::kU32, DType::kU64}) {
    check_op(make_case("Shrink", 9, {numbers(dtype, {4}, {0, 1, 2, 200})}, attrs),
             numbers(dtype, {4}, {0, 0, 1, 199}), "");
  }
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64}) {
    check_op(make_case("Shrink", 9, {numbers(dtype, {4}, {-2, -1, 1, 2})}, attrs),
             numbers(dtype, {4}, {-1.5, 0, 0, 1.5}), "");
  }
}

TEST(Shrink, KeepsIntegersInRangeAndExact) {
  check_op(make_case("Shrink", 9, {numbers(DType::kI8, {2}, {-128, 127})}, {{"bias", -9.0f}}),
           numbers(DType::kI8, {2}, {-128, 127}), "");
  check_op(make_case("Shrink", 9, {numbers(DType::kU8, {1}, {2})}, {{"bias", 9.0f}}),
           numbers(DType::kU8, {1}, {0}), "");
  check_op(make_case("Shrink", 9, {ints({2}, {INT64_MAX, INT64_MIN + 1})}),
           ints({2}, {INT64_MAX, INT64_MIN + 1}), "");
}

TEST(Shrink, RefusesOtherDtypesByName) {
  check_error(make_case("Shrink", 9, {numbers(DType::kBool, {1}, {1})}), Code::kInvalidModel,
              "input 0 has dtype bool");
}

}  // namespace hasten::test
