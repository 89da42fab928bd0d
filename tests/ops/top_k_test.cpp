#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

void check_top(const Tensor& x, int64_t k, Attrs attrs, const Tensor& values, const Tensor& at) {
  const auto got = check_op(make_case("TopK", 11, {x, ints({1}, {k})}, std::move(attrs), 2));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(difference(got[0], values), "");
  EXPECT_EQ(difference(got[1], at), "");
}

TEST(TopK, TiesGoByIndexAndNanIsLargest) {
  const Tensor x = floats({5}, {1, 3, NAN, 3, 2});
  check_top(x, 4, {}, floats({4}, {NAN, 3, 3, 2}), ints({4}, {2, 1, 3, 4}));
  check_top(x, 4, {{"largest", int64_t{0}}}, floats({4}, {1, 2, 3, 3}), ints({4}, {0, 4, 1, 3}));
  check_top(ints({2, 2}, {1, 2, 3, 0}), 1, {{"axis", int64_t{0}}}, ints({1, 2}, {3, 2}),
            ints({1, 2}, {1, 0}));
  check_top(x, 0, {}, floats({0}, {}), ints({0}, {}));
  check_op(make_case("TopK", 7, {x}, {{"k", int64_t{2}}}, 2), floats({2}, {NAN, 3}));
}

TEST(TopK, RefusesWhatIsWrong) {
  const Tensor x = floats({2}, {1, 2});
  check_error(make_case("TopK", 11, {x, ints({1}, {3})}, {}, 2), Code::kInvalidModel,
              "K is 3, the axis has 2 elements");
  check_error(make_case("TopK", 11, {x, ints({1}, {-1})}, {}, 2), Code::kInvalidModel, "K is -1");
  check_error(make_case("TopK", 11, {x, ints({2}, {1, 1})}, {}, 2), Code::kInvalidModel,
              "one element");
  EXPECT_EQ(
      infer_text("TopK", 11, {shaped(DType::kF32, {sym("n"), Dim(9)}), known_dims({3})}, {}, 2),
      "f32[n,3]; i64[n,3]");
}

}  // namespace
}  // namespace hasten::test
