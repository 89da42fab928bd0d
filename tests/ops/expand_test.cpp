#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase expand(const Tensor& x, std::vector<int64_t> shape) {
  const auto n = static_cast<int64_t>(shape.size());
  return make_case("Expand", 13, {x, ints({n}, std::move(shape))});
}

TEST(Expand, Broadcasts) {
  const Tensor x = ints({3, 1}, {1, 2, 3});
  check_op(expand(x, {2, 1, 2}), ints({2, 3, 2}, {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}), "copy");
  check_op(expand(x, {1, 2}), ints({3, 2}, {1, 1, 2, 2, 3, 3}), "copy");
  check_op(expand(x, {3, 0}), ints({3, 0}, {}), "copy");
  check_op(expand(x, {1, 1}), x, "alias");
  check_op(expand(ints({}, {5}), {2, 2}), ints({2, 2}, {5, 5, 5, 5}), "copy");
  for (const DType t : {DType::kI8, DType::kF16, DType::kF32, DType::kF64}) {
    check_op(expand(random_tensor(t, {2, 1, 5, 1}, 0, 90), {2, 7, 5, 90}), "copy");
    check_op(expand(random_tensor(t, {1, 33}, 0, 90), {300, 33}), "copy");
  }
}

TEST(Expand, RefusesWhatDoesNotBroadcast) {
  check_error(expand(ints({2}, {1, 2}), {3}), Code::kInvalidModel, "do not broadcast");
  check_error(expand(ints({2}, {1, 2}), {-1}), Code::kInvalidModel, "negative dimension -1");
  EXPECT_EQ(
      infer_text("Expand", 13,
                 {shaped(DType::kF32, {Dim(1), sym("n")}), known_dims({sym("batch"), Dim(1)})}),
      "f32[batch,n]");
}

}  // namespace
}  // namespace hasten::test
