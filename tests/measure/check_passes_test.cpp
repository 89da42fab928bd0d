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

/// What a pass of a test adds to the last element of constant %c.
Result<int> add_to_constant(Graph& graph, float delta) {
  for (Value& v : graph.values) {
    if (v.name != "c") continue;
    Tensor moved = *Tensor::copy(v.constant.view());
    moved.mutable_as<float>()[moved.count() - 1] += delta;
    v.constant = moved;
  }
  return 1;
}
Result<int> nudge(Graph& graph, PassContext&) { return add_to_constant(graph, 0x1p-24F); }
Result<int> push(Graph& graph, PassContext&) { return add_to_constant(graph, 1e-3F); }
/// Rounding left out.
Result<int> drop_round(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node& node : graph.main.nodes) {
    if (node.op != "Round") continue;
    node.op = "Identity";
    ++changes;
  }
  EXPECT_TRUE(bind_graph(graph));
  return changes;
}

/// 0.25 + 0.25 lies where DynamicQuantizeLinear, with a scale of 1, rounds to 0, and what is above
/// to 1.
const std::string kQuantized =
    "const %c: f32[3] = {0, 0, 0.25}\nin %x: f32[3]\n%m = Add(%x, %c)\n"
    "%q, %s, %z = DynamicQuantizeLinear(%m)\n%y = DequantizeLinear(%q, %s, %z)\nout %y\n";
const std::vector<float> kOnTheEdge = {255, 0, 0.25F};

Result<CheckResult> check_with(const std::string& text, const std::vector<float>& x,
                               const std::vector<Pass>& passes) {
  const auto context = *Context::make();
  const std::vector<InputSet> sets = {{{DType::kF32, {static_cast<int64_t>(x.size())}, x.data()}}};
  return check_passes(*context, graph_of(text), {}, sets, {}, passes);
}

TEST(CheckPasses, ADifferenceThatRoundingMadeLargeIsNobodysFault) {
  const auto result = check_with(kQuantized, kOnTheEdge, {{"nudge", "", nudge, 1e-6}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->ok()) << result->passes[0].reason;
  ASSERT_TRUE(result->cut);
  EXPECT_EQ(result->cut->nodes, 1u);
  EXPECT_EQ(result->cut->ops.at("DynamicQuantizeLinear"), 1u);
  EXPECT_EQ(result->cut->samples, 1u);
  EXPECT_NEAR(result->cut->max_err, 1.0 / 255, 1e-6);
  const PassCheck& pass = result->passes.at(0);
  EXPECT_NEAR(*pass.behind_rounding, 1.0 / 255, 1e-6);
  EXPECT_GT(pass.max_err, 0);
  EXPECT_LE(pass.max_err, 1e-9);
}

TEST(CheckPasses, AWrongPassInFrontOfRoundingIsNamed) {
  for (const auto& [run, bound] : {std::pair(&push, 1e-7), std::pair(&nudge, 1e-12)}) {
    const auto result =
        check_with(kQuantized, kOnTheEdge, {{"nudge", "", nudge, 1e-6}, {"wrong", "", run, bound}});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->cut);
    EXPECT_TRUE(named(*result, "nudge").ok);
    EXPECT_FALSE(named(*result, "wrong").ok);
  }
}

TEST(CheckPasses, AWrongPassBehindRoundingIsNamed) {
  const std::string text =
      "const %c: f32[3] = {0, 0, 0.25}\nin %x: f32[3]\n%r = Round(%x)\n%y = Add(%r, %c)\n"
      "%i = ArgMax(%y) {axis=0}\nout %y, %i\n";
  const auto result = check_with(text, {1, 2, 3}, {{"wrong", "", push, 1e-6}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->cut);
  EXPECT_FALSE(result->ok());
}

TEST(CheckPasses, APassThatKeepsBitsMustKeepThemBehindRounding) {
  const auto result = check_with(kQuantized, kOnTheEdge, {{"nudge", "", nudge, 0}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->ok());
}

TEST(CheckPasses, APassThatChangesTheRoundingItselfIsNamed) {
  const std::string text =
      "const %c: f32[3] = {0, 0, 0.25}\nin %x: f32[3]\n%m = Add(%x, %c)\n%y = Round(%m)\n"
      "out %y\n";
  for (const double bound : {0.0, 1e-5}) {
    const auto result = check_with(text, {1, 2, 3}, {{"wrong", "", drop_round, bound}});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_FALSE(result->ok());
    EXPECT_NE(result->passes.at(0).reason, "");
  }
}

TEST(CheckPasses, FailingWithAPassIsItsFault) {
  const Pass broken = {
      "broken", "",
      [](Graph&, PassContext&) -> Result<int> { return fail(Code::kInternal, "out of order"); },
      1e-5};
  const auto result = check_with(kQuantized, kOnTheEdge, {broken});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->cut);
  EXPECT_FALSE(result->ok());
  EXPECT_EQ(result->passes.at(0).reason, "fails with it: out of order");
}

TEST(CheckPasses, AnInterruptionLeavesNoVerdict) {
  auto context = *Context::make();
  const std::vector<float> x = {1, 2.3F, -4.7F, 0.9F};
  const std::vector<InputSet> sets = {{{DType::kF32, {1, 1, 2, 2}, x.data()}}};
  std::atomic<bool> stop{true};
  MeasureControl control;
  control.stop = &stop;
  const auto none = check_passes(*context, graph_of(kScaled), {}, sets, control);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->interrupted);
  EXPECT_TRUE(none->passes.empty());
  EXPECT_GT(none->planned, 2u);
  EXPECT_FALSE(none->verdict());
  stop = false;
  control.progress = [&](const Progress& p) { stop = p.runs == 2; };
  const auto some = check_passes(*context, graph_of(kScaled), {}, sets, control);
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_TRUE(some->interrupted);
  EXPECT_EQ(some->passes.size(), 2u);
  EXPECT_FALSE(some->verdict());
  stop = false;
  control.progress = nullptr;
  EXPECT_EQ(check_passes(*context, graph_of(kScaled), {}, sets, control)->verdict(), true);
}

TEST(DiffValues, AnInterruptionBeforeTheFirstSampleFindsNothing) {
  auto context = *Context::make();
  const std::vector<float> x = {1, 2};
  const std::vector<InputSet> sets = {{{DType::kF32, {2}, x.data()}}};
  const TappedModel side{"a.onnx", {}, graph_of("in %x: f32[2]\n%q = Exp(%x)\nout %q\n")};
  const std::atomic<bool> stop{true};
  MeasureControl control;
  control.stop = &stop;
  const auto diffs = diff_values(*context, side, side, sets, sets, 1e-4, control);
  ASSERT_TRUE(diffs) << diffs.error().message;
  EXPECT_TRUE(diffs->interrupted);
  EXPECT_EQ(diffs->samples, 0u);
  EXPECT_EQ(diffs->compared, 0u);
  EXPECT_TRUE(diffs->different.empty());
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
