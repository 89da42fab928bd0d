#include "measure/cut_graph.h"

#include <gtest/gtest.h>

#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "engine/ops/infer_graph.h"

namespace hasten::test {
namespace {

Graph inferred(const std::string& nodes) {
  Graph graph = *parse_graph("graph \"g\" opset {\"\": 17}\n" + nodes);
  EXPECT_TRUE(bind_graph(graph));
  const Status ok = infer_graph(graph, {});
  EXPECT_TRUE(ok) << ok.error().message;
  return graph;
}

std::string names(const Graph& graph, const std::vector<ValueId>& ids) {
  std::string text;
  for (ValueId id : ids) text += graph.value(id).name + " ";
  return text;
}

std::string ops(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.main.nodes) text += node.op + " ";
  return text;
}

TEST(CutGraph, NodesThatRoundBecomeInputsAndWhatTheyReadOutputs) {
  const Graph graph = inferred(
      "const %k: f32[] = {2}\nin %x: f32[n,4]\n%a = Mul(%x, %k)\n"
      "%q, %s, %z = DynamicQuantizeLinear(%a)\n%r = Round(%a)\n%d = DequantizeLinear(%q, %s, %z)\n"
      "%b = Add(%d, %r)\n%i = Cast(%b) {to=7}\nout %b, %i\n");
  const auto cut = cut_graph(graph);
  ASSERT_TRUE(cut);
  EXPECT_TRUE(verify(cut->graph));
  EXPECT_EQ(cut->nodes(), 3u);
  EXPECT_EQ(ops(cut->graph), "Mul DequantizeLinear Add ");
  EXPECT_EQ(names(cut->graph, cut->graph.main.inputs), "x q s z r i ");
  EXPECT_EQ(names(cut->graph, cut->fed), "q s z r i ");
  EXPECT_EQ(names(cut->graph, cut->graph.main.outputs), "b a ") << "each once, %i is given";
}

TEST(CutGraph, WhatFollowsFromShapesOrConstantsStays) {
  const Graph graph = inferred(
      "const %h: f32[] = {0.5}\nconst %m: i64[1] = {-1}\nin %x: f32[n,4]\n%n = Shape(%x)\n"
      "%f = Cast(%n) {to=1}\n%g = Mul(%f, %h)\n%e = Floor(%g)\n%t = Cast(%e) {to=7}\n"
      "%z = Exp(%x)\n%i = Cast(%h) {to=7}\nout %z, %t, %i\n");
  EXPECT_FALSE(cut_graph(graph));
}

TEST(CutGraph, OfRoundedInputsNothingIsLeft) {
  EXPECT_FALSE(cut_graph(inferred("in %x: f32[4]\n%y = Round(%x)\nout %y\n")));
}

TEST(CutGraph, SamplesKeepWhatTheModelMade) {
  const Graph graph =
      inferred("in %x: f32[2]\n%a = Neg(%x)\n%r = Round(%a)\n%y = Neg(%r)\nout %y\n");
  const auto cut = cut_graph(graph);
  ASSERT_TRUE(cut);
  const auto context = *Context::make();
  const std::vector<float> x = {0.4F, 1.6F}, y = {7, -2.4F};
  const std::vector<InputSet> samples = {{{DType::kF32, {2}, x.data()}},
                                         {{DType::kF32, {2}, y.data()}}};
  const auto all = feed_samples(*context, graph, *cut, {}, samples, 1 << 20);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->sets.size(), 2u);
  ASSERT_EQ(all->sets[1].size(), 2u);
  EXPECT_EQ(all->sets[1][0].data, y.data());
  EXPECT_EQ(all->sets[0][1].as<float>()[1], -2);
  EXPECT_EQ(all->sets[1][1].as<float>()[0], -7);
  const auto few = feed_samples(*context, graph, *cut, {}, samples, 1);
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_EQ(few->sets.size(), 1u);
}

}  // namespace
}  // namespace hasten::test
