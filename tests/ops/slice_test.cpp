#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

const Tensor kSix = floats({6}, {0, 1, 2, 3, 4, 5});

OpCase slice(const Tensor& x, std::vector<int64_t> starts, std::vector<int64_t> ends,
             std::vector<int64_t> axes, std::vector<int64_t> steps) {
  const auto n = static_cast<int64_t>(starts.size());
  return make_case("Slice", 13,
                   {x, ints({n}, std::move(starts)), ints({n}, std::move(ends)),
                    ints({n}, std::move(axes)), ints({n}, std::move(steps))});
}

TEST(Slice, TakesExtremes) {
  struct {
    int64_t start, end, step;
    std::vector<float> want;
  } const cases[] = {{5, INT64_MIN, -2, {5, 3, 1}},
                     {INT64_MAX, INT64_MIN, -1, {5, 4, 3, 2, 1, 0}},
                     {-1, -100, -2, {5, 3, 1}},
                     {3, 3, 1, {}},
                     {INT64_MIN, INT64_MAX, 2, {0, 2, 4}},
                     {0, INT64_MAX, INT64_MAX, {0}},
                     {5, 0, INT64_MIN, {5}},
                     {INT64_MAX, INT64_MAX, 1, {}},
                     // A start before the first element is clamped to it (numpy takes nothing).
                     {INT64_MIN, INT64_MIN, -1, {0}},
                     {-7, INT64_MIN, -2, {0}},
                     {-7, 0, -1, {}}};
  for (const auto& k : cases) {
    SCOPED_TRACE(fmt::format("{} to {} by {}", k.start, k.end, k.step));
    check_op(slice(kSix, {k.start}, {k.end}, {0}, {k.step}),
             floats({static_cast<int64_t>(k.want.size())}, k.want), "copy");
  }
}

TEST(Slice, WholeInputIsAnAlias) {
  check_op(slice(kSix, {0}, {INT64_MAX}, {-1}, {1}), kSix, "alias");
}

TEST(Slice, EveryElementSize) {
  for (const DType t : {DType::kU8, DType::kF16, DType::kF32, DType::kF64, DType::kBool}) {
    const Tensor x = random_tensor(t, {4, 5, 7}, 0, 100);
    check_op(slice(x, {1, -1}, {4, -8}, {0, 2}, {2, -3}), "copy");
    check_op(slice(x, {1, 2}, {3, 4}, {1, 2}, {1, 1}), "copy");
  }
  Tensor text = *Tensor::make(DType::kString, {3});
  for (int i = 0; i < 3; ++i) text.mutable_as<std::string>()[i] = std::string(1, "abc"[i]);
  Tensor want = *Tensor::make(DType::kString, {2});
  want.mutable_as<std::string>()[0] = "c";
  want.mutable_as<std::string>()[1] = "b";
  check_op(slice(text, {2}, {0}, {0}, {-1}), want, "");
}

TEST(Slice, TakesAttributesBeforeOpset10) {
  const OpCase c =
      make_case("Slice", 9, {floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
                {{"starts", std::vector<int64_t>{0, 1}}, {"ends", std::vector<int64_t>{-1, 1000}}});
  check_op(c, floats({1, 3}, {2, 3, 4}), "copy");
}

TEST(Slice, OfBlockedChannels) {
  OpCase c = slice(random_floats({2, 40, 3, 5}), {16}, {40}, {1}, {1});
  c.in_layouts = {Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  check_op(c, "copy");
  c = slice(random_floats({2, 40, 3, 5}), {1, -1}, {3, -6}, {2, 3}, {1, -2});
  c.in_layouts = {Layout::kNchw16c};
  c.out_layout = Layout::kNchw16c;
  check_op(c, "copy");
}

TEST(Slice, RefusesWhatIsWrong) {
  check_error(slice(kSix, {0}, {1}, {0}, {0}), Code::kInvalidModel, "steps [0] contain 0");
  check_error(slice(kSix, {0}, {1}, {1}, {1}), Code::kInvalidModel, "axis 1 is outside [-1, 0]");
  check_error(slice(kSix, {0, 0}, {1, 1}, {0, -1}, {1, 1}), Code::kInvalidModel,
              "2 starts for an input of rank 1");
  check_error(make_case("Slice", 13, {kSix, ints({2}, {0, 0}), ints({1}, {1})}),
              Code::kInvalidModel, "2 starts and 1 ends");
}

TEST(Slice, InfersSymbols) {
  const Facts x = shaped(DType::kF32, {sym("batch"), Dim(512)});
  const auto text = [&](Shape starts, Shape ends, Shape axes) {
    return infer_text("Slice", 13, {x, known_dims(starts), known_dims(ends), known_dims(axes)});
  };
  EXPECT_EQ(text({0}, {INT64_MAX}, {0}), "f32[batch,512]");
  EXPECT_EQ(text({0}, {INT32_MAX}, {0}), "f32[batch,512]");
  EXPECT_EQ(text({0}, {sym("batch")}, {0}), "f32[batch,512]");
  EXPECT_EQ(text({0}, {sym("length")}, {1}), "f32[batch,?]");
  EXPECT_EQ(text({1}, {INT64_MAX}, {0}), "f32[?,512]");
  EXPECT_EQ(text({2}, {4}, {1}), "f32[batch,2]");
  EXPECT_EQ(infer_text(
                "Slice", 13,
                {x, shaped(DType::kI64, {Dim(1)}), shaped(DType::kI64, {Dim(1)}), known_dims({1})}),
            "f32[batch,?]");
  EXPECT_EQ(infer_text("Slice", 13, {x, unshaped(DType::kI64), unshaped(DType::kI64)}), "f32[?,?]");
}

TEST(Slice, FollowsSymbolsOfShapes) {
  const Facts shape = known_dims({sym("batch"), Dim(3), sym("length")});
  EXPECT_EQ(infer_text("Slice", 13, {shape, known_dims({-1}), known_dims({INT64_MAX})}),
            "i64[1] = {length}");
  EXPECT_EQ(infer_text("Slice", 13, {shape, known_dims({0}), known_dims({sym("length")})}),
            "i64[?]");
}

}  // namespace
}  // namespace hasten::test
