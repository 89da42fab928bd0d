// ONNX files -> Graph.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/graph.h"

namespace hasten {

struct LoadOptions {
  /// Declared shapes of inputs are replaced by these; a symbol that becomes a number so becomes it
  /// in the other inputs and outputs too.
  std::map<std::string, Shape> shapes;
  int64_t max_bytes = 0;       // of all weights; 0: no limit
  int64_t max_nodes = 100000;  // after functions are inlined
  int max_depth = 32;          // of subgraphs, and of functions that call functions
  /// External data may lie behind symbolic links that leave the model's folder, as in the cache of
  /// Hugging Face.
  bool allow_external_links = false;
};

/// Loads a model file. Weights stay in the mapped file where they lie aligned, and keep it mapped.
/// Local functions are inlined, Constant nodes become constants, nodes are sorted.
/// Nodes that can't run (unknown operator, unknown attribute) have def == null: see
/// find_unsupported(). Shapes of inner values are only what the file declares: see infer_graph().
/// Errors: io, invalid_model, unsupported, out_of_memory; invalid_argument for a shape override
/// that names no input or has another rank.
Result<Graph> load_onnx(const std::string& path, const LoadOptions& options = {});

/// The same from bytes. `owner` keeps them alive; without it all weights are copied. External data
/// is looked up in `folder`; refused if that is empty.
Result<Graph> load_onnx_bytes(std::span<const std::byte> bytes, const std::string& folder = "",
                              const LoadOptions& options = {},
                              std::shared_ptr<const void> owner = nullptr);

/// Something in a model that hasten can't run.
struct Unsupported {
  std::string node;  // its name
  std::string op, domain;
  int64_t version = 0;  // of the domain's opset
  std::string what;     // "operator Foo of domain 'bar' is unknown"
  std::string fix;      // what to do about it
};

/// All of it, subgraphs included, in the order of the nodes.
std::vector<Unsupported> find_unsupported(const Graph& graph);

/// Error: unsupported, naming the first few of find_unsupported(); else success.
Status check_supported(const Graph& graph);

}  // namespace hasten
