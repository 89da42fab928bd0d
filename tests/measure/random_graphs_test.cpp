// Every pass on and off over random graphs (random_graph.h) full of what the passes look for.
#include <gtest/gtest.h>

#include <map>

#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "measure/check_passes.h"
#include "measure/cut_graph.h"
#include "tests/measure/random_graph.h"

namespace hasten::test {
namespace {

/// All float constants off by a millionth.
Result<int> jitter(Graph& graph, PassContext&) {
  for (Value& v : graph.values) {
    if (!v.is_constant() || v.dtype != DType::kF32) continue;
    Tensor moved = *Tensor::copy(v.constant.view());
    for (int64_t i = 0; i < moved.count(); ++i) {
      moved.mutable_as<float>()[i] *= i % 2 == 0 ? 1 + 1e-6F : 1 - 1e-6F;
    }
    v.constant = moved;
  }
  return 1;
}

Graph parse(const RandomGraph& g) {
  auto graph = parse_graph(g.text);
  EXPECT_TRUE(graph && bind_graph(*graph)) << g.text;
  return graph ? std::move(*graph) : Graph();
}

TEST(RandomGraphs, EveryPassKeepsTheAnswers) {
  constexpr uint32_t kGraphs = 400;
  const auto context = *Context::make();
  EngineOptions options;
  options.threads = 1;
  std::map<std::string, int> places;
  uint32_t growing = 0;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    const RandomGraph g = GraphBuilder(seed, seed % 2 == 1).build();
    const std::vector<InputSet> sets = {{{DType::kF32, g.dims, g.input.data()}}};
    const auto check = [&](std::span<const Pass> passes) {
      auto result = check_passes(*context, parse(g), options, sets, {}, passes);
      EXPECT_TRUE(result) << result.error().message << "\n" << g.text;
      return result ? std::move(*result) : CheckResult();
    };
    const CheckResult result = check(all_passes());
    // A graph in which any difference grows more than tenfold can't show what passes do.
    const Pass moved = {"jitter", "", jitter, 1e-6};
    const bool grows = !result.ok() && !check(std::span(&moved, 1)).ok();
    growing += grows;
    for (const PassCheck& p : result.passes) {
      places[p.name] += p.changes;
      EXPECT_TRUE(p.ok || (grows && p.allowed > 0))
          << "seed " << seed << ": " << p.name << ": " << p.reason << "\n"
          << g.text;
    }
  }
  EXPECT_LT(growing, kGraphs / 10);
  for (const Pass& pass : all_passes()) {
    if (pass.name == std::string("fold_constants")) continue;  // there is nothing to fold
    EXPECT_GT(places[pass.name], 0) << pass.name;
  }
}

// Whatever is cut out, the rest is a graph that runs as before, and through the passes.
TEST(RandomGraphs, CutWhereTheyRound) {
  const auto context = *Context::make();
  EngineOptions options;
  options.threads = 1;
  uint32_t cuts = 0;
  for (uint32_t seed = 1000; seed < 1150; ++seed) {
    const RandomGraph g = GraphBuilder(seed, true).build();
    const std::vector<InputSet> sets = {{{DType::kF32, g.dims, g.input.data()}}};
    Graph graph = parse(g);
    ASSERT_TRUE(infer_graph(graph, {}));
    const auto cut = cut_graph(graph);
    if (!cut) continue;
    ++cuts;
    ASSERT_TRUE(verify(cut->graph)) << g.text;
    const auto fed = feed_samples(*context, graph, *cut, options, sets, 1 << 20);
    ASSERT_TRUE(fed) << fed.error().message << "\n" << g.text;
    for (const Node& node : cut->graph.main.nodes) {
      EXPECT_TRUE(node.op != "Round" && node.op != "DynamicQuantizeLinear" && node.op != "Greater")
          << g.text;
    }
    const auto result = check_passes(*context, cut->graph, options, fed->sets, {});
    ASSERT_TRUE(result) << result.error().message << "\n" << g.text;
    EXPECT_FALSE(result->cut);
    for (const PassCheck& p : result->passes) {
      EXPECT_TRUE(p.ok) << "seed " << seed << ": " << p.name << ": " << p.reason << "\n" << g.text;
    }
  }
  EXPECT_GT(cuts, 50u);
}

}  // namespace
}  // namespace hasten::test
