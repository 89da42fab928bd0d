#include "measure/check_passes.h"

#include <gtest/gtest.h>

#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "measure/diff_values.h"

namespace hasten::test {
namespace {

Graph graph_of(const std::string& nodes) {
  Graph graph = *parse_graph("graph \"g\" opset {\"\": 17}\n" + nodes);
  EXPECT_TRUE(bind_graph(graph));
  return graph;
}

const PassCheck& named(const CheckResult& result, const std::string& name) {
  for (const PassCheck& p : result.passes) {
    if (p.name == name) return p;
  }
  ADD_FAILURE() << name << " was not checked";
  return result.passes.at(0);
}

const std::string kScaled =
    "const %w: f32[1,1,1,1] = {0.1}\nconst %k: f32[1,1,1,1] = {0.3}\nin %x: f32[1,1,2,2]\n"
    "%c = Conv(%x, %w)\n%m = Mul(%c, %k)\n%y = Relu(%m)\nout %y\n";

TEST(CheckPasses, SaysWhatEachMoves) {
  auto context = *Context::make();
  const std::vector<float> x = {1, 2.3F, -4.7F, 0.9F};
  const std::vector<InputSet> sets = {{{DType::kF32, {1, 1, 2, 2}, x.data()}}};
  const auto result = check_passes(*context, graph_of(kScaled), {}, sets, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->ok());
  const PassCheck& scale = named(*result, "fuse_conv_scale");
  EXPECT_EQ(scale.changes, 1);
  EXPECT_LE(scale.max_err, 1e-6);
  EXPECT_DOUBLE_EQ(scale.allowed, 1e-4);
  const PassCheck& activation = named(*result, "fuse_conv_activation");
  EXPECT_EQ(activation.changes, 1);
  EXPECT_EQ(activation.max_err, 0);
}

TEST(CheckPasses, NamesThePassThatChangesTheAnswer) {
  // The convolution overflows, unless the scale behind it is folded into its weights.
  auto context = *Context::make();
  const std::vector<float> x = {3e38F, 1, 1, 1};
  const std::vector<InputSet> sets = {{{DType::kF32, {1, 1, 2, 2}, x.data()}}};
  std::string text = kScaled;
  text.replace(text.find("0.1"), 3, "100");
  text.replace(text.find("0.3"), 3, "0.01");
  const auto result = check_passes(*context, graph_of(text), {}, sets, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->ok());
  for (const PassCheck& p : result->passes) EXPECT_EQ(p.ok, p.name != "fuse_conv_scale") << p.name;
}

TEST(CheckPasses, PassesThatAreOffStayOff) {
  auto context = *Context::make();
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<InputSet> sets = {{{DType::kF32, {1, 1, 2, 2}, x.data()}}};
  EngineOptions options;
  options.disabled_passes = {"fuse_conv_scale"};
  const auto result = check_passes(*context, graph_of(kScaled), options, sets, {});
  ASSERT_TRUE(result) << result.error().message;
  for (const PassCheck& p : result->passes) EXPECT_NE(p.name, "fuse_conv_scale");
}

TEST(DiffValues, FindsTheFirstNodeThatDiffers) {
  const std::string a =
      "const %k: f32[1] = {2}\nin %x: f32[2]\n%p = Mul(%x, %k) \"scale\"\n%q = Exp(%p) \"e\"\n"
      "%y = Neg(%q) \"n\"\nout %y\n";
  std::string b = a;
  b.replace(b.find("Exp"), 3, "Abs");
  auto context = *Context::make();
  const std::vector<float> x = {1, 2};
  const std::vector<InputSet> sets = {{{DType::kF32, {2}, x.data()}}};
  const TappedModel side_a{"a.onnx", {}, graph_of(a)}, side_b{"b.onnx", {}, graph_of(b)};
  const auto diffs = diff_values(*context, side_a, side_b, sets, sets, 1e-4, {});
  ASSERT_TRUE(diffs) << diffs.error().message;
  EXPECT_EQ(diffs->compared, 3u);
  ASSERT_EQ(diffs->different.size(), 2u);
  EXPECT_EQ(diffs->different[0].node, "e");
  EXPECT_EQ(diffs->different[0].value, "q");
  EXPECT_EQ(diffs->different[1].node, "n");
  EXPECT_TRUE(diff_values(*context, side_a, side_a, sets, sets, 0, {})->different.empty());
}

}  // namespace
}  // namespace hasten::test
