// hasten inspect TARGET: what is in a model. Works on models that can't run, too.
#include <algorithm>
#include <set>

#include "base/mapped_file.h"
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/graph_cost.h"
#include "engine/onnx/load.h"
#include "engine/ops/infer_graph.h"
#include "engine/plan/evaluate.h"
#include "report/format.h"

namespace hasten {

namespace {

std::vector<Port> ports_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Port> ports;
  for (ValueId id : ids) {
    const Value& v = graph.value(id);
    ports.push_back({v.name, v.dtype, v.has_shape, v.shape});
  }
  return ports;
}

Json ports_json(const std::vector<Port>& ports) {
  Json json = Json::array();
  for (const Port& p : ports) {
    Json shape = nullptr;
    if (p.has_shape) {
      shape = Json::array();
      for (Dim d : p.shape) shape.push_back(d.known() ? Json(d.value()) : Json(d.text()));
    }
    json.push_back({{"name", p.name}, {"dtype", dtype_name(p.dtype)}, {"shape", shape}});
  }
  return json;
}

/// The names of dims that are not numbers.
std::vector<std::string> dynamic_dims(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& p : ports) {
    for (size_t d = 0; d < p.shape.size(); ++d) {
      if (p.shape[d].known()) continue;
      const std::string symbol = p.shape[d].text();
      const std::string name = symbol.starts_with('?') ? fmt::format("{}[{}]", p.name, d) : symbol;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// Work at dims that suit the model, as far as inference gets.
struct Work {
  GraphCost cost;
  std::vector<Unsupported> refused;  // by inference
  std::vector<std::string> assumed;
  std::string why_partial;
};

Work count_work(const Graph& graph, const std::vector<Port>& ports) {
  Work work;
  Graph concrete = graph;
  auto samples = gather_inputs(ports, {}, &graph, {});
  if (samples) {
    work.assumed = samples->assumed;
    for (size_t i = 0; i < ports.size(); ++i) {
      Value& value = concrete.value(concrete.main.inputs[i]);
      value.shape = to_shape(samples->rows[0][i].dims());
      value.has_shape = true;
    }
  } else {
    work.why_partial = samples.error().message;
  }
  std::vector<RefusedNode> refused;
  auto inferred = infer_graph(
      concrete,
      [](const Node& node, std::span<const Tensor> in) { return evaluate_node(node, in); }, nullptr,
      &refused);
  std::set<const Node*> listed;
  for (const RefusedNode& r : refused) {
    if (!listed.insert(r.node).second) continue;
    work.refused.push_back(
        {r.node->name, r.node->op, r.node->domain, r.node->version, r.why, kOtherEngine});
  }
  if (!inferred) work.why_partial = inferred.error().message;
  work.cost = graph_cost(concrete);
  if (work.why_partial.empty() && work.cost.unknown > 0) {
    work.why_partial =
        fmt::format("{} nodes are left out: their shapes can't be told", work.cost.unknown);
  }
  return work;
}

struct Found {
  GraphContents contents;
  Work work;
  std::vector<Port> inputs, outputs;
  std::vector<Unsupported> unsupported;
  size_t file_bytes = 0;
  bool loaded = false;  // false: no graph could be made, only `unsupported` is known
};

Json to_json(const Target& target, const Graph& graph, const Found& found) {
  Json unsupported = Json::array();
  for (const Unsupported& u : found.unsupported) {
    unsupported.push_back({{"node", u.node},
                           {"op", u.op},
                           {"domain", u.domain},
                           {"version", u.version},
                           {"what", u.what},
                           {"fix", u.fix}});
  }
  Json json = {{"target", target.text}, {"name", graph.name}, {"ir_version", graph.ir_version}};
  json["opsets"] = Json::object();
  for (const auto& [domain, version] : graph.opsets)
    json["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
  if (!found.loaded) {
    json["error"] = found.work.why_partial;
    json["unsupported"] = unsupported;
    return json;
  }
  json["nodes"] = found.contents.nodes;
  json["ops"] = found.contents.ops;
  json["params"] = found.contents.params;
  json["weight_bytes"] = static_cast<int64_t>(found.contents.weight_bytes);
  json["file_bytes"] = found.file_bytes;
  json["flops"] = static_cast<int64_t>(found.work.cost.flops);
  json["bytes"] = static_cast<int64_t>(found.work.cost.bytes);
  json["partial"] = found.work.why_partial.empty() ? Json(nullptr) : Json(found.work.why_partial);
  json["inputs"] = ports_json(found.inputs);
  json["outputs"] = ports_json(found.outputs);
  json["dynamic_dims"] = dynamic_dims(found.inputs);
  json["unsupported"] = unsupported;
  json["assumed"] = found.work.assumed;
  return json;
}

/// One line for what is the same; --json has every node.
std::string unsupported_text(const Found& found, const Style& style) {
  std::string text;
  std::map<std::pair<std::string, std::string>, std::pair<std::string, int>> kinds;
  for (const Unsupported& u : found.unsupported) {
    auto& [first, count] = kinds[{u.what, u.fix}];
    if (count++ == 0) first = u.node;
  }
  for (const auto& [kind, nodes] : kinds) {
    const std::string where = nodes.first.empty() ? ""
                              : nodes.second == 1 ? fmt::format(" (node '{}')", nodes.first)
                                                  : fmt::format(" ({} nodes, the first is '{}')",
                                                                nodes.second, nodes.first);
    text +=
        fmt::format("  {} {}{}: {}\n", style.bad("unsupported:"), kind.first, where, kind.second);
  }
  return text;
}

std::string to_text(const Target& target, const Graph& graph, const Found& found,
                    const Style& style) {
  std::string text = style.bold(target.text) + "\n";
  if (!found.loaded) return text + unsupported_text(found, style);
  std::string opsets;
  for (const auto& [domain, version] : graph.opsets) {
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ",
                          domain.empty() ? "ai.onnx" : domain, version);
  }
  Table table("ll");
  table.row({"opsets", opsets});
  table.row({"nodes", fmt::format("{}", found.contents.nodes)});
  table.row(
      {"parameters", fmt::format("{}, {}", format_count(static_cast<double>(found.contents.params)),
                                 format_bytes(found.contents.weight_bytes))});
  table.row(
      {"work", fmt::format("{}, {} moved, at the dims below", format_flops(found.work.cost.flops),
                           format_bytes(found.work.cost.bytes))});
  if (!found.work.why_partial.empty())
    table.row({"", style.warning("only in part: " + found.work.why_partial)});
  for (const Port& p : found.inputs) {
    table.row({"input", fmt::format("{} {}{}", p.name, dtype_name(p.dtype),
                                    p.has_shape ? shape_text(p.shape) : "[…]")});
  }
  for (const Port& p : found.outputs) {
    table.row({"output", fmt::format("{} {}{}", p.name, dtype_name(p.dtype),
                                     p.has_shape ? shape_text(p.shape) : "[…]")});
  }
  for (const std::string& line : found.work.assumed) table.row({"assumed", line});
  std::vector<std::pair<std::string, int64_t>> ops(found.contents.ops.begin(),
                                                   found.contents.ops.end());
  std::stable_sort(ops.begin(), ops.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string counts;
  for (const auto& [op, count] : ops)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", op, count);
  table.row({"ops", counts});
  text += table.text(style);
  text += unsupported_text(found, style);
  return text;
}

Result<int> run_inspect(App& app, const std::string& text) {
  HASTEN_TRY(const Target target, app.target(text));
  Found found;
  if (!target.model.ends_with(".hplan")) {
    HASTEN_TRY(found.unsupported, list_unsupported(target.model));
  }
  auto loaded = app.graph(target);
  // What is unsupported is told even where no graph can be made of it.
  if (!loaded && found.unsupported.empty()) return fail(std::move(loaded.error()));
  found.loaded = loaded.has_value();
  const Graph graph = loaded ? std::move(*loaded) : Graph();
  found.contents = graph_contents(graph);
  found.inputs = ports_of(graph, graph.main.inputs);
  found.outputs = ports_of(graph, graph.main.outputs);
  if (loaded) {
    found.work = count_work(graph, found.inputs);
    found.unsupported.insert(found.unsupported.end(), found.work.refused.begin(),
                             found.work.refused.end());
  } else {
    found.work.why_partial = loaded.error().message;
  }
  HASTEN_TRY(const MappedFile file, MappedFile::open(target.model));
  found.file_bytes = file.bytes().size();
  HASTEN_CHECK(
      app.print(to_json(target, graph, found), to_text(target, graph, found, app.style())));
  if (!loaded && loaded.error().code != Code::kUnsupported) return app.note_failure(loaded.error());
  return 0;
}

}  // namespace

void add_inspect(CLI::App& cli, App& app, Run& run) {
  auto target = std::make_shared<std::string>();
  cli.add_option("target", *target, "MODEL[@key=value,...]")->required()->type_name("TARGET");
  app.add_common(cli);
  cli.callback(
      [&app, &run, target] { run = [&app, target] { return run_inspect(app, *target); }; });
}

}  // namespace hasten
