#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase tile(const Tensor& x, std::vector<int64_t> repeats) {
  const auto n = static_cast<int64_t>(repeats.size());
  return make_case("Tile", 13, {x, ints({n}, std::move(repeats))});
}

TEST(Tile, RepeatsAxes) {
  const Tensor x = ints({2, 2}, {1, 2, 3, 4});
  check_op(tile(x, {2, 2}), ints({4, 4}, {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}), "copy");
  check_op(tile(x, {0, 3}), ints({0, 6}, {}), "copy");
  check_op(tile(x, {1, 1}), x, "alias");
  for (const DType t : {DType::kU8, DType::kF16, DType::kF32, DType::kI64}) {
    check_op(tile(random_tensor(t, {2, 3, 1, 5}, 0, 90), {3, 1, 40, 2}), "copy");
  }
  check_error(tile(x, {2}), Code::kInvalidModel, "1 repeats for an input of rank 2");
  check_error(tile(x, {2, -1}), Code::kInvalidModel, "negative -1");
  check_error(tile(x, {INT64_MAX, INT64_MAX}), Code::kInvalidModel, "");
  EXPECT_EQ(
      infer_text("Tile", 13,
                 {shaped(DType::kF32, {sym("n"), Dim(1), Dim(3)}), known_dims({1, sym("m"), 2})}),
      "f32[n,m,6]");
}

}  // namespace
}  // namespace hasten::test
