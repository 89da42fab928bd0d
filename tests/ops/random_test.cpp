// Streams from an implementation of SplitMix64 and Box-Muller in Python; distributions by moments.
#include "engine/ops/random_numbers.h"

#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

Tensor draw(const OpCase& c) {
  auto got = evaluate_node(c.node, c.inputs);
  if (!got) {
    ADD_FAILURE() << got.error().message;
    return floats({0}, {});
  }
  return (*got)[0];
}

double mean(const Tensor& t) {
  double sum = 0;
  for (const double v : numbers_of(t)) sum += v;
  return sum / static_cast<double>(t.count());
}
double deviation(const Tensor& t) {
  const double m = mean(t);
  double sum = 0;
  for (const double v : numbers_of(t)) sum += (v - m) * (v - m);
  return std::sqrt(sum / static_cast<double>(t.count()));
}

constexpr int64_t kDouble = 11, kHalf = 10;

TEST(Random, StreamsAreThoseDocumented) {
  EXPECT_EQ(RandomStream(0).bits(0), 0xe220a8397b1dcdafu);  // published
  EXPECT_EQ(RandomStream(1234567).bits(0), 6457827717110365317u);
  const Attrs seeded{{"shape", std::vector<int64_t>{2, 2}}, {"dtype", kDouble}, {"seed", 7.0f}};
  EXPECT_EQ(difference(draw(make_case("RandomUniform", 7, {}, seeded)),
                       numbers(DType::kF64, {2, 2},
                               {0.502653012725419, 0.3942284258548837, 0.21795912487460367,
                                0.3166174996013339}),
                       {1e-15, 0}),
            "");
  EXPECT_EQ(difference(draw(make_case("RandomNormal", 7, {}, seeded)),
                       numbers(DType::kF64, {2, 2},
                               {-0.9303770934706415, -0.28501020569727586, 0.9088100197542551,
                                -0.8557751657803638}),
                       {1e-14, 0}),
            "");
}

TEST(Random, ASeedRepeatsAndWithoutItIsNew) {
  const Tensor like = numbers(DType::kI32, {40}, std::vector<double>(40, 0));
  for (const char* op : {"RandomUniformLike", "RandomNormalLike"}) {
    const OpCase seeded = make_case(op, 21, {like}, {{"dtype", int64_t{1}}, {"seed", 3.5f}});
    EXPECT_EQ(bit_difference(draw(seeded), draw(seeded)), "");
    const OpCase other = make_case(op, 21, {like}, {{"dtype", int64_t{1}}, {"seed", 3.25f}});
    EXPECT_NE(difference(draw(seeded), draw(other)), "");
    const OpCase fresh = make_case(op, 21, {like}, {{"dtype", int64_t{1}}});
    EXPECT_NE(difference(draw(fresh), draw(fresh)), "");
    EXPECT_TRUE(fresh.node.def->impure);
  }
}

TEST(Random, Distributions) {
  const std::vector<int64_t> shape{100, 200};
  const Tensor uniform = draw(make_case(
      "RandomUniform", 13, {}, {{"shape", shape}, {"low", -2.0f}, {"high", 4.0f}, {"seed", 1.0f}}));
  EXPECT_NEAR(mean(uniform), 1, 0.06);
  EXPECT_NEAR(deviation(uniform), 6 / std::sqrt(12.0), 0.06);
  for (const double v : numbers_of(uniform)) ASSERT_TRUE(v >= -2 && v <= 4);
  const Tensor normal =
      draw(make_case("RandomNormal", 13, {},
                     {{"shape", shape}, {"mean", 5.0f}, {"scale", 2.0f}, {"dtype", kHalf}}));
  EXPECT_EQ(normal.dtype(), DType::kF16);
  EXPECT_NEAR(mean(normal), 5, 0.09);
  EXPECT_NEAR(deviation(normal), 2, 0.06);
}

TEST(Random, Bernoulli) {
  const Tensor p = numbers(DType::kF32, {4000}, std::vector<double>(4000, 0.25));
  for (const int64_t to : {int64_t{1}, int64_t{9}, int64_t{13}, int64_t{16}}) {
    const Tensor drawn = draw(make_case("Bernoulli", 15, {p}, {{"dtype", to}, {"seed", 1.0f}}));
    EXPECT_EQ(static_cast<int64_t>(drawn.dtype()), to);
    for (const double v : numbers_of(drawn)) ASSERT_TRUE(v == 0 || v == 1);
    EXPECT_NEAR(mean(drawn), 0.25, 0.035);
  }
  const Tensor ends = floats({4}, {0, 1, 0, 1});
  check_op(make_case("Bernoulli", 15, {ends}), ends);
  check_error(make_case("Bernoulli", 15, {floats({2}, {0, 1.5})}), Code::kInvalidModel,
              "element 1 is 1.5, not a probability");
  check_error(make_case("Bernoulli", 15, {floats({1}, {NAN})}), Code::kInvalidModel, "element 0");
}

TEST(Random, Multinomial) {
  // Of probabilities 1/4, 0, 3/4; and of a row whose scale does not matter.
  const Tensor logs = floats({2, 3}, {0, -INFINITY, std::log(3.0f), 1000, 1000, -1000});
  const Tensor drawn = draw(
      make_case("Multinomial", 7, {logs}, {{"sample_size", int64_t{4000}}, {"dtype", int64_t{7}}}));
  ASSERT_EQ(drawn.dims(), (Dims{2, 4000}));
  ASSERT_EQ(drawn.dtype(), DType::kI64);
  std::array<int, 6> counts{};
  for (int64_t i = 0; i < 8000; ++i) {
    const auto k = static_cast<size_t>(number_at(drawn, i));
    ASSERT_LT(k, 3u);
    ++counts[(i < 4000 ? 0 : 3) + k];
  }
  EXPECT_NEAR(counts[0], 1000, 150);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[3], 2000, 170);
  EXPECT_EQ(counts[5], 0);
  for (const Tensor& bad : {floats({1, 2}, {NAN, 0}), floats({1, 0}, {}),
                            floats({1, 2}, {-INFINITY, -INFINITY}), floats({1, 1}, {INFINITY})}) {
    check_error(make_case("Multinomial", 7, {bad}), Code::kInvalidModel,
                "row 0 of the input is no distribution");
  }
  check_op(make_case("Multinomial", 7, {floats({0, 3}, {})}), numbers(DType::kI32, {0, 1}, {}));
}

TEST(Random, Errors) {
  const auto uniform = [](Attrs attrs) { return make_case("RandomUniform", 7, {}, attrs); };
  const std::vector<int64_t> shape{2};
  check_error(uniform({}), Code::kInvalidModel, "attribute 'shape' is missing");
  check_error(uniform({{"shape", std::vector<int64_t>{2, -1}}}), Code::kInvalidModel, "[2,-1]");
  check_error(uniform({{"shape", std::vector<int64_t>{int64_t{1} << 40, int64_t{1} << 40}}}),
              Code::kInvalidModel, "node 'n'");
  check_error(uniform({{"shape", shape}, {"dtype", int64_t{7}}}), Code::kInvalidModel, "i64");
  check_error(uniform({{"shape", shape}, {"dtype", int64_t{17}}}), Code::kUnsupported,
              "float8e4m3fn");
  check_error(uniform({{"shape", shape}, {"dtype", int64_t{-1}}}), Code::kInvalidModel, "-1");
  check_error(uniform({{"shape", shape}, {"low", 2.0f}}), Code::kInvalidModel,
              "attribute 'low' is 2, 'high' 1");
  check_error(uniform({{"shape", shape}, {"high", INFINITY}}), Code::kInvalidModel, "finite");
  check_error(uniform({{"shape", shape}, {"seed", NAN}}), Code::kInvalidModel, "seed");
  check_error(make_case("RandomNormal", 7, {}, {{"shape", shape}, {"scale", -1.0f}}),
              Code::kInvalidModel, "attribute 'scale' is -1");
  check_error(make_case("RandomNormalLike", 7, {ints({1}, {0})}), Code::kInvalidModel, "i64");
  check_error(make_case("Multinomial", 7, {floats({1, 2}, {0, 0})}, {{"sample_size", int64_t{-1}}}),
              Code::kInvalidModel, "attribute 'sample_size' is -1");
  check_error(make_case("Multinomial", 7, {floats({2}, {0, 0})}), Code::kInvalidModel, "[N,C]");
}

TEST(Random, Inference) {
  EXPECT_EQ(infer_text("RandomNormalLike", 7, {shaped(DType::kF16, {sym("n"), Dim(2)})}),
            "f16[n,2]");
  EXPECT_EQ(infer_text("Multinomial", 7, {shaped(DType::kF32, {sym("n"), Dim(2)})},
                       {{"sample_size", int64_t{3}}}),
            "i32[n,3]");
  EXPECT_EQ(infer_text("Bernoulli", 15, {unshaped(DType::kF64)}, {{"dtype", int64_t{9}}}),
            "bool[...]");
}

TEST(Random, PortableExp) {
  for (double x = 0; x > -745; x = x * 1.1 - 0.37) {
    EXPECT_NEAR(portable_exp(x), std::exp(x), 4e-16 * std::exp(x) + 5e-324) << x;
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-INFINITY), 0);
}

}  // namespace
}  // namespace hasten::test
