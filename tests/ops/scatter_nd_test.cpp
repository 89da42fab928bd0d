#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase scatter(const Tensor& x, const Tensor& indices, const Tensor& updates,
               const std::string& reduction = "none") {
  return make_case("ScatterND", 18, {x, indices, updates}, {{"reduction", reduction}});
}

TEST(ScatterND, NoneAndReductions) {
  const Tensor x = floats({3}, {1, 2, 3}), thrice = ints({3, 1}, {1, 1, 1});
  const Tensor updates = floats({3}, {10, 20, 30});
  check_op(scatter(x, thrice, updates), floats({3}, {1, 30, 3}), "scatter_nd");
  check_op(scatter(x, thrice, updates, "add"), floats({3}, {1, 62, 3}), "");
  check_op(scatter(x, thrice, updates, "mul"), floats({3}, {1, 12000, 3}), "");
  check_op(scatter(x, thrice, updates, "max"), floats({3}, {1, 30, 3}), "");
  check_op(scatter(x, thrice, updates, "min"), floats({3}, {1, 2, 3}), "");
  check_op(scatter(ints({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}), ints({1, 1, 2}, {0, 0}),
                   ints({1, 1, 2}, {100, 101})),
           ints({2, 2, 2}, {100, 101, 2, 3, 4, 5, 6, 7}), "scatter_nd");
  for (const DType t : {DType::kI8, DType::kF16, DType::kF32, DType::kU64}) {
    check_op(
        scatter(random_tensor(t, {30, 40, 5}, 0, 90), random_tensor(DType::kI64, {50, 2}, -30, 30),
                random_tensor(t, {50, 5}, 0, 90, 2)),
        "scatter_nd");
  }
}

TEST(ScatterND, RefusesWhatIsOutside) {
  const Tensor x = floats({3}, {1, 2, 3});
  check_error(scatter(x, ints({1, 1}, {3}), floats({1}, {9})), Code::kInvalidModel,
              "outside [-3, 2]");
  check_error(scatter(x, ints({1, 1}, {0}), floats({2}, {9, 9})), Code::kInvalidModel, "need [1]");
  check_error(scatter(x, ints({1, 2}, {0, 0}), floats({1}, {9})), Code::kInvalidModel,
              "tuples of 2");
  check_error(scatter(x, ints({1, 1}, {0}), ints({1}, {9})), Code::kInvalidModel,
              "data is f32, updates are i64");
}

TEST(ScatterND, FollowsSymbolsOnlyWithoutArithmetic) {
  const Facts x = known_dims({sym("n"), 2}), at = known(ints({1, 1}, {1})), with = known_dims({7});
  EXPECT_EQ(infer_text("ScatterND", 18, {x, at, with}), "i64[2] = {n,7}");
  EXPECT_EQ(infer_text("ScatterND", 18, {x, at, with}, {{"reduction", std::string("add")}}),
            "i64[2]");
}

}  // namespace
}  // namespace hasten::test
