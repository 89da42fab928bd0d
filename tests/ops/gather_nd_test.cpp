#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase gather(const Tensor& x, const Tensor& indices, int64_t batch_dims = 0) {
  return make_case("GatherND", 13, {x, indices}, {{"batch_dims", batch_dims}});
}

// Examples of the operator's documentation.
TEST(GatherND, Examples) {
  const Tensor x = ints({2, 2}, {0, 1, 2, 3});
  check_op(gather(x, ints({2, 2}, {0, 0, 1, -1})), ints({2}, {0, 3}), "gather_nd");
  check_op(gather(x, ints({2, 1}, {1, 0})), ints({2, 2}, {2, 3, 0, 1}), "gather_nd");
  const Tensor cube = ints({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  check_op(gather(cube, ints({2, 1, 2}, {0, 1, 1, 0})), ints({2, 1, 2}, {2, 3, 4, 5}), "gather_nd");
  check_op(gather(cube, ints({2, 1}, {1, 0}), 1), ints({2, 2}, {2, 3, 4, 5}), "gather_nd");
  for (const DType t : {DType::kBool, DType::kBF16, DType::kF32, DType::kI64}) {
    check_op(gather(random_tensor(t, {3, 4, 5, 6}, 0, 90),
                    random_tensor(DType::kI64, {3, 7, 2}, -4, 4), 1),
             "gather_nd");
  }
}

TEST(GatherND, RefusesWhatIsOutside) {
  const Tensor x = ints({2, 2}, {0, 1, 2, 3});
  check_error(gather(x, ints({1, 2}, {0, 2})), Code::kInvalidModel, "outside [-2, 1]");
  check_error(gather(x, ints({1, 3}, {0, 0, 0})), Code::kInvalidModel, "tuples of 3");
  check_error(gather(x, ints({1, 1}, {0}), 1), Code::kInvalidModel, "differ in batch dimension 0");
  check_error(gather(x, ints({1, 1}, {0}), 2), Code::kInvalidModel, "batch_dims 2");
  check_error(gather(x, ints({1, 1}, {0}), -1), Code::kInvalidModel, "batch_dims -1 is negative");
}

}  // namespace
}  // namespace hasten::test
