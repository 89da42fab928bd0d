#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

OpCase pad(const Tensor& x, std::vector<int64_t> pads, const std::string& mode, Tensor value = {},
           Tensor axes = {}) {
  const auto n = static_cast<int64_t>(pads.size());
  return make_case("Pad", 19, {x, ints({n}, std::move(pads)), std::move(value), std::move(axes)},
                   {{"mode", mode}});
}

const Tensor kFour = floats({4}, {1, 2, 3, 4});

TEST(Pad, EveryMode) {
  check_op(pad(kFour, {2, 1}, "constant"), floats({7}, {0, 0, 1, 2, 3, 4, 0}), "map_axes");
  check_op(pad(kFour, {2, 1}, "constant", floats({}, {9})), floats({7}, {9, 9, 1, 2, 3, 4, 9}),
           "map_axes");
  check_op(pad(kFour, {2, 1}, "edge"), floats({7}, {1, 1, 1, 2, 3, 4, 4}), "map_axes");
  check_op(pad(kFour, {2, 3}, "reflect"), floats({9}, {3, 2, 1, 2, 3, 4, 3, 2, 1}), "map_axes");
  check_op(pad(kFour, {5, 1}, "wrap"), floats({10}, {4, 1, 2, 3, 4, 1, 2, 3, 4, 1}), "map_axes");
  // numpy.pad([1,2,3], (5, 4), 'reflect')
  check_op(pad(floats({3}, {1, 2, 3}), {5, 4}, "reflect"),
           floats({12}, {2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3}), "map_axes");
  check_op(pad(floats({1}, {7}), {2, 2}, "reflect"), floats({5}, {7, 7, 7, 7, 7}), "map_axes");
}

TEST(Pad, NegativePadsCutFirst) {
  check_op(pad(kFour, {-1, -2}, "constant"), floats({1}, {2}));
  check_op(pad(kFour, {-1, 2}, "constant"), floats({5}, {2, 3, 4, 0, 0}));
  check_op(pad(kFour, {-1, 2}, "reflect"), floats({5}, {2, 3, 4, 3, 2}));
  check_op(pad(kFour, {-2, -2}, "edge"), floats({0}, {}));
  check_op(pad(kFour, {-3, 7}, "constant"), floats({8}, {4, 0, 0, 0, 0, 0, 0, 0}));
  check_op(pad(kFour, {-5, 3}, "constant"), floats({2}, {0, 0}));
}

TEST(Pad, AxesAndAttributes) {
  const Tensor x = ints({2, 2}, {1, 2, 3, 4});
  check_op(pad(x, {1, 0}, "constant", {}, ints({1}, {-1})), ints({2, 3}, {0, 1, 2, 0, 3, 4}),
           "map_axes");
  check_op(make_case("Pad", 2, {floats({1, 2}, {1, 2})},
                     {{"pads", std::vector<int64_t>{0, 1, 1, 0}}, {"value", 5.0f}}),
           floats({2, 3}, {5, 1, 2, 5, 5, 5}), "map_axes");
}

TEST(Pad, EveryElementSizeAndManyDims) {
  for (const DType t : {DType::kU8, DType::kF16, DType::kF32, DType::kI64}) {
    for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
      check_op(pad(random_tensor(t, {2, 3, 5, 40}, 0, 90), {0, 1, 2, 1, 0, 0, 1, 3}, mode),
               "map_axes");
      check_op(pad(random_tensor(t, {3, 4, 2}, 0, 90), {1, 2, 0, 0, 1, 0}, mode), "map_axes");
    }
  }
  check_op(pad(random_floats({0, 2}), {1, 1, 0, 1}, "constant"), "map_axes");
}

TEST(Pad, OfBlockedPixels) {
  OpCase c = pad(random_floats({2, 20, 4, 5}), {0, 0, 1, 2, 0, 0, 3, 0}, "reflect");
  c.in_layouts = {Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  check_op(c, "map_axes");
  c = pad(random_floats({2, 20, 4, 5}), {0, 0, 1, 2, 0, 0, 3, 0}, "constant");
  c.in_layouts = {Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  check_op(c, "map_axes");
  // A fill other than 0 would also fill the channels that pad the last block.
  c = pad(random_floats({2, 20, 4, 5}), {0, 0, 1, 2, 0, 0, 3, 0}, "constant", floats({}, {1}));
  c.in_layouts = {Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  check_op(c, "");
}

TEST(Pad, RefusesWhatIsWrong) {
  check_error(pad(kFour, {-3, -2}, "constant"), Code::kInvalidModel, "leave no size");
  check_error(pad(kFour, {1}, "constant"), Code::kInvalidModel, "1 pads for 1 axes");
  check_error(pad(kFour, {INT64_MAX, 1}, "constant"), Code::kInvalidModel, "leave no size");
  check_error(pad(kFour, {-4, 1}, "edge"), Code::kInvalidModel, "nothing left to repeat");
  check_error(pad(kFour, {1, 1}, "mirror"), Code::kInvalidModel, "'mode' is 'mirror'");
  check_error(pad(kFour, {1, 1}, "constant", ints({}, {1})), Code::kInvalidModel,
              "constant_value is i64");
  check_error(make_case("Pad", 18, {kFour, ints({2}, {1, 1})}, {{"mode", std::string("wrap")}}),
              Code::kInvalidModel, "'mode' is 'wrap'");
}

TEST(Pad, InfersSymbols) {
  EXPECT_EQ(infer_text("Pad", 13,
                       {shaped(DType::kF32, {sym("n"), sym("h"), Dim(4)}),
                        known_dims({0, 1, 1, 0, 1, 1})}),
            "f32[n,?,6]");
  EXPECT_EQ(infer_text("Pad", 13,
                       {shaped(DType::kF32, {sym("n"), Dim(4)}), shaped(DType::kI64, {Dim(4)})}),
            "f32[?,?]");
}

}  // namespace
}  // namespace hasten::test
