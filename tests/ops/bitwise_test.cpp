#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

TEST(Bitwise, OfIntegersThatBroadcast) {
  const Tensor x = numbers(DType::kI8, {2, 2}, {1, -1, 12, -128});
  const Tensor y = numbers(DType::kI8, {2}, {3, 10});
  check_op(make_case("BitwiseAnd", 18, {x, y}), numbers(DType::kI8, {2, 2}, {1, 10, 0, 0}));
  check_op(make_case("BitwiseOr", 18, {x, y}), numbers(DType::kI8, {2, 2}, {3, -1, 15, -118}));
  check_op(make_case("BitwiseXor", 18, {x, y}), numbers(DType::kI8, {2, 2}, {2, -11, 15, -118}));
  check_op(make_case("BitwiseNot", 18, {ints({3}, {0, INT64_MIN, 5})}),
           ints({3}, {-1, INT64_MAX, -6}));
  check_error(make_case("BitwiseAnd", 18, {floats({1}, {1}), floats({1}, {1})}),
              Code::kInvalidModel, "dtype f32");
}

TEST(BitShift, PastTheWidthGivesZero) {
  const Tensor x = numbers(DType::kU8, {4}, {255, 255, 1, 128});
  const Tensor by = numbers(DType::kU8, {4}, {1, 8, 7, 255});
  const auto shift = [&](const char* direction) {
    return make_case("BitShift", 11, {x, by}, {{"direction", std::string(direction)}});
  };
  check_op(shift("LEFT"), numbers(DType::kU8, {4}, {254, 0, 128, 0}));
  check_op(shift("RIGHT"), numbers(DType::kU8, {4}, {127, 0, 0, 0}));
  check_error(shift("UP"), Code::kInvalidModel, "direction is 'UP'");
  check_error(make_case("BitShift", 11, {x, by}), Code::kInvalidModel, "direction is ''");
}

}  // namespace
}  // namespace hasten::test
