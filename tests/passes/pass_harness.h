// Graphs as text, before and after one pass and through the whole engine.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "engine/passes/pass.h"
#include "engine/plan/evaluate.h"

namespace hasten::test {

inline PassContext pass_context() {
  PassContext context;
  context.evaluate = [](const Node& node, std::span<const Tensor> inputs) {
    return evaluate_node(node, inputs);
  };
  return context;
}

/// The graph of a text, bound and inferred.
inline Result<Graph> read_graph(const std::string& text) {
  HASTEN_TRY(Graph graph, parse_graph(text));
  HASTEN_CHECK(bind_graph(graph));
  HASTEN_CHECK(infer_graph(graph, pass_context().evaluate));
  return graph;
}

/// The graph after the named passes, in that order; verified after each.
inline Result<Graph> graph_after(const std::vector<std::string>& passes, const std::string& text,
                                 PassContext context = pass_context()) {
  HASTEN_TRY(Graph graph, read_graph(text));
  for (const std::string& name : passes) {
    bool known = false;
    for (const Pass& pass : all_passes()) {
      if (name != pass.name) continue;
      known = true;
      HASTEN_TRY(const int changes, pass.run(graph, context));
      (void)changes;
      HASTEN_CHECK(verify(graph));
      HASTEN_CHECK(infer_graph(graph, context.evaluate));
    }
    if (!known) return fail(Code::kInvalidArgument, "no pass is called {}", name);
  }
  return graph;
}

/// The nodes after one pass, as text without constants and names: "%y = Relu(%x) {…}" a line.
inline std::string nodes_after(const std::string& pass, const std::string& text) {
  auto graph = graph_after({pass}, text);
  if (!graph) return graph.error().message;
  const std::string all = print_graph(*graph);
  std::string nodes;
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.find('\n', at);
    const std::string line = all.substr(at, end - at);
    const size_t equals = line.find(" = ");
    if (line[0] == '%' && equals != std::string::npos) {
      nodes += line.substr(0, line.find(':')) + line.substr(equals) + "\n";
    }
    at = end + 1;
  }
  return nodes;
}

/// The operators after one pass, in order: "Conv hasten.Gemm ".
inline std::string ops_after(const std::string& pass, const std::string& text) {
  auto graph = graph_after({pass}, text);
  if (!graph) return graph.error().message;
  std::string ops;
  for (const Node& node : graph->main.nodes) {
    ops += fmt::format("{}{}{} ", node.domain, node.domain.empty() ? "" : ".", node.op);
  }
  return ops;
}

/// Does the pass leave every node as it is?
inline bool leaves(const std::string& pass, const std::string& text) {
  auto before = graph_after({}, text), after = graph_after({pass}, text);
  EXPECT_TRUE(before && after) << (after ? before.error().message : after.error().message);
  return before && after && print_graph(*before) == print_graph(*after);
}

inline Tensor random_tensor(Dims dims, uint32_t seed = 1, float low = -2, float high = 2) {
  Tensor t = *Tensor::make(DType::kF32, std::move(dims));
  std::mt19937 bits(seed);
  for (int64_t i = 0; i < t.count(); ++i) {
    t.mutable_as<float>()[i] = low + (high - low) * static_cast<float>(bits() * 0x1p-32);
  }
  return t;
}

/// All outputs of the whole engine for these inputs; `passes` false: the graph as it is.
inline std::vector<Tensor> run_engine(const std::string& text, const std::vector<Tensor>& inputs,
                                      bool passes) {
  auto context = Context::make();
  auto graph = parse_graph(text);
  EXPECT_TRUE(context && graph) << (graph ? "" : graph.error().message);
  if (!context || !graph) return {};
  Status ok = bind_graph(*graph);
  EngineOptions options;
  options.enable_passes = passes;
  options.threads = 1;
  std::vector<Tensor> out;
  auto engine = NativeEngine::compile(**context, std::move(*graph), options);
  EXPECT_TRUE(ok && engine) << (engine ? "" : engine.error().message);
  if (!ok || !engine) return {};
  auto runner = (*engine)->make_runner();
  std::vector<TensorView> views;
  for (const Tensor& t : inputs) views.push_back(t.view());
  ok = (*runner)->bind(views);
  if (ok) ok = (*runner)->run();
  EXPECT_TRUE(ok) << (ok ? "" : ok.error().message);
  if (!ok) return {};
  for (const TensorView& v : (*runner)->outputs()) {
    Tensor copy = *Tensor::make(v.dtype, v.dims);
    std::memcpy(copy.mutable_data(), v.data, copy.bytes());
    out.push_back(std::move(copy));
  }
  return out;
}

/// Runs with and without passes, expects the same dims and, per element,
/// |a - b| <= tolerance * max(1, largest |b|) (0: equal numbers; NaN equals NaN). Returns the
/// outputs with passes.
inline std::vector<Tensor> expect_same_answer(const std::string& text,
                                              const std::vector<Tensor>& inputs,
                                              double tolerance = 0) {
  const std::vector<Tensor> with = run_engine(text, inputs, true),
                            without = run_engine(text, inputs, false);
  EXPECT_EQ(with.size(), without.size());
  for (size_t i = 0; i < with.size() && i < without.size(); ++i) {
    const Tensor &a = with[i], &b = without[i];
    EXPECT_EQ(a.dims(), b.dims()) << "output " << i;
    EXPECT_EQ(a.dtype(), b.dtype()) << "output " << i;
    if (a.dims() != b.dims() || a.dtype() != DType::kF32) continue;
    double scale = 1;
    for (int64_t k = 0; k < b.count(); ++k) {
      if (std::isfinite(b.as<float>()[k]))
        scale = std::max(scale, std::abs(double{b.as<float>()[k]}));
    }
    for (int64_t k = 0; k < a.count(); ++k) {
      const double x = a.as<float>()[k], y = b.as<float>()[k];
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      EXPECT_LE(std::abs(x - y), tolerance * scale) << "output " << i << " element " << k;
    }
  }
  return with;
}

inline std::vector<float> elements(const Tensor& t) {
  return {t.as<float>(), t.as<float>() + t.count()};
}

}  // namespace hasten::test
