#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase scatter(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis,
               const std::string& reduction = "none") {
  return make_case("ScatterElements", 18, {x, indices, updates},
                   {{"axis", axis}, {"reduction", reduction}});
}

TEST(ScatterElements, NoneAndReductions) {
  const Tensor x = floats({3}, {1, 2, 3}), at = ints({3}, {1, -2, 1});
  const Tensor updates = floats({3}, {10, 20, 30});
  check_op(scatter(x, at, updates, 0), floats({3}, {1, 30, 3}), "scatter_elements");
  check_op(scatter(x, at, updates, 0, "add"), floats({3}, {1, 62, 3}), "");
  check_op(scatter(x, at, updates, -1, "min"), floats({3}, {1, 2, 3}), "");
  check_op(scatter(floats({1}, {NAN}), ints({1}, {0}), floats({1}, {1}), 0, "max"),
           floats({1}, {NAN}), "");
  check_op(make_case("Scatter", 9, {x, at, updates}), floats({3}, {1, 30, 3}), "scatter_elements");
  for (const DType t : {DType::kBool, DType::kF16, DType::kF32, DType::kF64}) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      Dims dims = {5, 6, 7};
      dims[static_cast<size_t>(axis)] = 9;
      check_op(scatter(random_tensor(t, {5, 6, 7}, 0, 90), random_tensor(DType::kI32, dims, -5, 5),
                       random_tensor(t, dims, 0, 90, 3), axis),
               "scatter_elements");
    }
  }
}

TEST(ScatterElements, RefusesWhatIsWrong) {
  const Tensor x = floats({3}, {1, 2, 3});
  check_error(scatter(x, ints({1}, {-4}), floats({1}, {9}), 0), Code::kInvalidModel,
              "outside [-3, 2]");
  check_error(scatter(x, ints({1}, {0}), floats({2}, {9, 9}), 0), Code::kInvalidModel, "one shape");
  check_error(scatter(x, ints({1}, {0}), floats({1}, {9}), 0, "xor"), Code::kInvalidModel,
              "'reduction' is 'xor'");
}

}  // namespace
}  // namespace hasten::test
