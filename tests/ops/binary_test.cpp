#include "tests/ops/op_harness.h"

namespace hasten::test {

TEST(Binary, AddsTensorsOfOneShape) {
  check_op(make_case("Add", 13, {random_floats({3, 37}, 1), random_floats({3, 37}, 2)}));
}

TEST(Binary, AddsAScalar) {
  check_op(make_case("Add", 7, {floats({3}, {1, 2, 3}), floats({}, {0.5f})}),
           floats({3}, {1.5f, 2.5f, 3.5f}));
}

TEST(Binary, RefusesShapesThatDoNotBroadcast) {
  check_error(make_case("Add", 13, {random_floats({2, 3}), random_floats({2, 4})}),
              Code::kInvalidModel, "node 'n' (Add): shapes [2,3] and [2,4] do not broadcast");
}

TEST(Binary, RefusesMixedDtypes) {
  check_error(make_case("Add", 13, {random_floats({2}), ints({2}, {1, 2})}), Code::kInvalidModel,
              "dtypes f32 and i64");
}

}  // namespace hasten::test
