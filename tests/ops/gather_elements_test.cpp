#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase gather(const Tensor& x, const Tensor& indices, int64_t axis) {
  return make_case("GatherElements", 13, {x, indices}, {{"axis", axis}});
}

TEST(GatherElements, AlongEachAxis) {
  const Tensor x = ints({2, 2}, {1, 2, 3, 4});
  check_op(gather(x, ints({2, 2}, {0, 0, -1, 0}), 1), ints({2, 2}, {1, 1, 4, 3}),
           "gather_elements");
  check_op(gather(x, ints({1, 2}, {1, -2}), 0), ints({1, 2}, {3, 2}), "gather_elements");
  check_op(gather(x, ints({1, 1}, {1}), 1), ints({1, 1}, {2}), "");
  for (const DType t : {DType::kU8, DType::kF16, DType::kF32, DType::kF64}) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      Dims dims = {5, 6, 7};
      dims[static_cast<size_t>(axis)] = 9;
      check_op(
          gather(random_tensor(t, {5, 6, 7}, 0, 90), random_tensor(DType::kI32, dims, -5, 5), axis),
          "gather_elements");
    }
  }
}

TEST(GatherElements, RefusesWhatIsOutside) {
  const Tensor x = ints({2, 2}, {1, 2, 3, 4});
  check_error(gather(x, ints({1, 1}, {2}), 1), Code::kInvalidModel, "outside [-2, 1]");
  check_error(gather(x, ints({3, 1}, {0, 0, 0}), 1), Code::kInvalidModel, "reach past data");
  check_error(gather(x, ints({1}, {0}), 1), Code::kInvalidModel, "one rank");
}

}  // namespace
}  // namespace hasten::test
