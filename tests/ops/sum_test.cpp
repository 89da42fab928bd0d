#include "tests/ops/op_harness.h"

namespace hasten::test {
namespace {

TEST(Sum, AddsAnyNumberThatBroadcast) {
  const Tensor a = random_floats({2, 3, 37}, 1), b = random_floats({3, 1}, 2);
  const Tensor c = random_floats({2, 1, 37}, 3);
  for (const char* op : {"Sum", "Mean"}) {
    const std::string kernel = op == std::string("Sum") ? "add_f32" : "mean_f32";
    check_op(make_case(op, 13, {a}), "alias");
    check_op(make_case(op, 13, {b, c}), kernel, {1e-6, 1e-6});
    check_op(make_case(op, 8, {b, a, c}), kernel, {1e-6, 1e-6});
    check_op(make_case(op, 13, {floats({0, 3}, {}), floats({3}, {1, 2, 3})}), floats({0, 3}, {}));
  }
  check_op(make_case("Mean", 13, {floats({2}, {1, -0.0f}), floats({}, {2}), floats({1}, {6})}),
           floats({2}, {3, 8.0f / 3}), "mean_f32", {1e-7, 0});
  // Rounded once: 2048 + 1 + 1 in half precision.
  check_op(make_case("Sum", 13,
                     {numbers(DType::kF16, {1}, {2048}), numbers(DType::kF16, {1}, {1}),
                      numbers(DType::kF16, {1}, {1})}),
           numbers(DType::kF16, {1}, {2050}), "");
}

TEST(Sum, TakesBlockedLayout) {
  OpCase c =
      make_case("Mean", 13, {random_floats({2, 19, 3, 4}, 1), random_floats({2, 19, 3, 4}, 2)});
  c.in_layouts = {Layout::kNchw16c, Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  EXPECT_FALSE(check_op(c, "mean_f32", {1e-6, 1e-6}).empty());
}

}  // namespace
}  // namespace hasten::test
