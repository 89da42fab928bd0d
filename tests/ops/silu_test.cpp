#include "tests/ops/op_harness.h"

namespace hasten::test {

TEST(Silu, IsXTimesSigmoid) {
  check_op(make_case("Silu", 1, {floats({5}, {-3, -0.5f, 0, 1, 4})}, {}, 1, "hasten"),
           // numpy: x / (1 + exp(-x))
           floats({5}, {-0.14227762f, -0.18877033f, 0, 0.7310586f, 3.9280552f}), "silu_f32",
           {1e-6, 1e-7});
  check_op(make_case("Silu", 1, {random_floats({3, 1111}, 1, -90, 90)}, {}, 1, "hasten"),
           "silu_f32", {1e-6, 1e-37});
  check_op(make_case("Silu", 1, {random_tensor(DType::kF16, {40}, -9, 9)}, {}, 1, "hasten"), "");
}

TEST(Silu, KeepsBlockedPaddingZero) {
  OpCase c = make_case("Silu", 1, {random_floats({2, 19, 3, 5}, 2)}, {}, 1, "hasten");
  c.in_layouts = {Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  check_op(c, "silu_f32", {1e-6, 1e-7});
}

}  // namespace hasten::test
