#include "measure/diff_outputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hasten {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

OutputDiff diff(const Tensor& a, const Tensor& b) {
  OutputDiffer differ;
  differ.add(std::vector<TensorView>{a.view()}, std::vector<TensorView>{b.view()});
  return differ.result();
}

Tensor floats(Dims dims, std::vector<float> values) { return Tensor::floats(dims, values); }

TEST(DiffOutputs, Distances) {
  OutputDiff d = diff(floats({1, 4}, {1, -2, 3, 4}), floats({1, 4}, {1, -2, 3, 5}));
  EXPECT_EQ(d.samples, 1);
  EXPECT_EQ(*d.max_abs, 1);
  EXPECT_EQ(*d.max_rel, 0.25);
  EXPECT_NEAR(*d.cosine, 34 / std::sqrt(30.0 * 39.0), 1e-12);
  EXPECT_EQ(*d.top1_agreement, 1);
  EXPECT_EQ(d.reason, "");
}

TEST(DiffOutputs, WorstOfAllSamplesCounts) {
  OutputDiffer differ;
  Tensor good = floats({2}, {1, 2}), bad = floats({2}, {2, 1});
  differ.add(std::vector<TensorView>{good.view()}, std::vector<TensorView>{good.view()});
  differ.add(std::vector<TensorView>{good.view()}, std::vector<TensorView>{bad.view()});
  OutputDiff d = differ.result();
  EXPECT_EQ(d.samples, 2);
  EXPECT_EQ(*d.max_abs, 1);
  EXPECT_NEAR(*d.cosine, 0.8, 1e-12);
  EXPECT_EQ(*d.top1_agreement, 0.5);
}

TEST(DiffOutputs, NanAndInfinity) {
  Tensor x = floats({3}, {kNan, kInf, 1});
  EXPECT_EQ(*diff(x, x).max_abs, 0);
  EXPECT_EQ(*diff(x, x).cosine, 1);
  OutputDiff d = diff(x, floats({3}, {0, kInf, 1}));
  EXPECT_EQ(*d.max_abs, kInf);
  EXPECT_EQ(*d.max_rel, kInf);
  EXPECT_EQ(*d.cosine, 0);
  EXPECT_EQ(*diff(floats({1}, {kInf}), floats({1}, {-kInf})).max_abs, kInf);
}

TEST(DiffOutputs, Zeros) {
  EXPECT_EQ(*diff(floats({2}, {0, 0}), floats({2}, {0, 0})).cosine, 1);
  EXPECT_EQ(*diff(floats({2}, {0, 0}), floats({2}, {0, 0})).max_rel, 0);
  EXPECT_EQ(*diff(floats({2}, {0, 0}), floats({2}, {0, 1})).cosine, 0);
  EXPECT_EQ(*diff(floats({0, 3}, {}), floats({0, 3}, {})).max_abs, 0);
}

TEST(DiffOutputs, TiesAgree) {
  EXPECT_EQ(*diff(floats({3}, {5, 5, 1}), floats({3}, {4.9f, 5, 1})).top1_agreement, 1);
}

TEST(DiffOutputs, ShapesAndTypesMustMatch) {
  OutputDiff d = diff(floats({1, 4}, {1, 2, 3, 4}), floats({4}, {1, 2, 3, 4}));
  EXPECT_FALSE(d.max_abs);
  EXPECT_FALSE(d.cosine);
  EXPECT_EQ(d.reason, "output 0 of sample 0: f32[1,4] and f32[4]");
  std::vector<int64_t> ints = {1};
  EXPECT_FALSE(diff(floats({1}, {1}), Tensor::ints({1}, ints)).max_abs);
  OutputDiffer count;
  count.add({}, std::vector<TensorView>(1));
  EXPECT_EQ(count.result().reason, "A has 0 outputs, B has 1");
  EXPECT_FALSE(OutputDiffer().result().max_abs);
}

TEST(DiffOutputs, IntegersHaveNoTop1) {
  std::vector<int64_t> a = {1, 2}, b = {1, 4};
  OutputDiff d = diff(Tensor::ints({2}, a), Tensor::ints({2}, b));
  EXPECT_EQ(*d.max_abs, 2);
  EXPECT_EQ(*d.max_rel, 1);
  EXPECT_FALSE(d.top1_agreement);
  EXPECT_NE(d.reason, "");
}

TEST(DiffOutputs, HalfAndBfloat16AreReadAsNumbers) {
  std::vector<Half> one = {{0x3c00}}, two = {{0x4000}};
  EXPECT_EQ(*diff(Tensor::of<Half>(DType::kF16, {1}, one), Tensor::of<Half>(DType::kF16, {1}, two))
                 .max_abs,
            1);
  std::vector<BFloat16> a = {{0x3f80}}, b = {{0x4000}};
  EXPECT_EQ(
      *diff(Tensor::of<BFloat16>(DType::kBF16, {1}, a), Tensor::of<BFloat16>(DType::kBF16, {1}, b))
           .max_abs,
      1);
}

}  // namespace
}  // namespace hasten
