#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase concat(std::vector<Tensor> parts, int64_t axis) {
  return make_case("Concat", 13, std::move(parts), {{"axis", axis}});
}

TEST(Concat, JoinsAlongAnyAxis) {
  check_op(concat({ints({2, 1}, {1, 2}), ints({2, 2}, {3, 4, 5, 6})}, 1),
           ints({2, 3}, {1, 3, 4, 2, 5, 6}), "copy");
  check_op(concat({ints({1, 2}, {1, 2}), ints({2, 2}, {3, 4, 5, 6})}, -2),
           ints({3, 2}, {1, 2, 3, 4, 5, 6}), "copy");
  check_op(concat({ints({0}, {}), ints({2}, {7, 8}), ints({0}, {})}, 0), ints({2}, {7, 8}), "copy");
}

TEST(Concat, EveryElementSize) {
  for (const DType t : {DType::kI8, DType::kBF16, DType::kI32, DType::kU64}) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      check_op(
          concat({random_tensor(t, {3, 4, 5}, 0, 90, 1), random_tensor(t, {3, 4, 5}, 0, 90, 2)},
                 axis),
          "copy");
    }
  }
  check_op(concat({random_floats({70, 300}), random_floats({70, 513})}, 1), "copy");
}

TEST(Concat, OfBlockedChannels) {
  OpCase c = concat({random_floats({2, 16, 3, 4}, 1), random_floats({2, 32, 3, 4}, 2),
                     random_floats({2, 5, 3, 4}, 3)},
                    1);
  c.in_layouts = {Layout::kNchw16c, Layout::kNchw16c, Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  check_op(c, "copy");
  // Parts that end within a block, and a last one whose padding reaches the end or doesn't.
  const auto join = [](const std::vector<int64_t>& channels, const char* kernel) {
    std::vector<Tensor> parts;
    for (const int64_t n : channels) parts.push_back(random_floats({2, n, 3, 5}, parts.size() + 1));
    OpCase joined = concat(std::move(parts), 1);
    joined.in_layouts.assign(channels.size(), Layout::kNchw16c);
    joined.out_layout = Layout::kNchw16c;
    check_op(joined, kernel);
  };
  join({24, 24, 24, 24}, "copy");
  join({4, 40, 12, 8, 33}, "copy");
  join({4, 16, 28}, "copy");
  join({20, 0, 10}, "copy");
  join({24, 16}, "");
  join({5, 16}, "");
  join({0, 16}, "copy");
}

TEST(Concat, RefusesWhatDoesNotJoin) {
  check_error(concat({floats({2, 3}, {0, 0, 0, 0, 0, 0}), floats({1, 2}, {0, 0})}, 0),
              Code::kInvalidModel, "does not join");
  check_error(concat({floats({1}, {0}), ints({1}, {0})}, 0), Code::kInvalidModel,
              "input 0 is f32, input 1 is i64");
  check_error(concat({floats({1}, {0})}, 1), Code::kInvalidModel, "axis 1 is outside [-1, 0]");
  check_error(make_case("Concat", 13, {floats({1}, {0})}), Code::kInvalidModel,
              "'axis' is missing");
}

TEST(Concat, InfersSymbols) {
  EXPECT_EQ(infer_text("Concat", 13,
                       {shaped(DType::kF32, {sym("batch"), Dim(3)}),
                        shaped(DType::kF32, {Dim(2), Dim(4)})},
                       {{"axis", int64_t{1}}}),
            "f32[2,7]");
  EXPECT_EQ(infer_text("Concat", 13,
                       {shaped(DType::kF32, {sym("past"), Dim(3)}),
                        shaped(DType::kF32, {Dim(1), sym("width")})},
                       {{"axis", int64_t{0}}}),
            "f32[?,3]");
  EXPECT_EQ(infer_text("Concat", 13, {known_dims({sym("batch")}), known_dims({1, sym("length")})},
                       {{"axis", int64_t{0}}}),
            "i64[3] = {batch,1,length}");
}

}  // namespace
}  // namespace hasten::test
