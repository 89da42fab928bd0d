// ONNX files -> Graph.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/load_limits.h"

namespace hasten {

struct LoadOptions {
  /// Declared shapes of inputs are replaced by these; a symbol that becomes a number so becomes it
  /// in the other inputs and outputs too.
  std::map<std::string, Shape> shapes;
  LoadLimits limits;
  LoadClock clock;     // of limits.seconds
  int max_depth = 32;  // of subgraphs, and of functions that call functions
  /// Nodes that can't run stay in the graph with def == null, to look at it; all else that is
  /// unsupported (a data type …) is an error still.
  bool keep_unsupported = false;
};

/// Loads a model file. Weights stay in the mapped file where they lie aligned, and keep it mapped.
/// Local functions are inlined, Constant nodes become constants, nodes are sorted.
/// Shapes of inner values are only what the file declares: see infer_graph().
/// Errors: io, invalid_model, unsupported (naming everything: see list_unsupported()),
/// out_of_memory; invalid_argument for a shape override that names no input or has another rank.
Result<Graph> load_onnx(const std::string& path, const LoadOptions& options = {});

/// The same from bytes. `owner` keeps them alive; without it all weights are copied. External data
/// is looked up in `folder`; refused if that is empty.
Result<Graph> load_onnx_bytes(std::span<const std::byte> bytes, const std::string& folder = "",
                              const LoadOptions& options = {},
                              const std::shared_ptr<const void>& owner = nullptr);

/// Something in a model that hasten can't run.
struct Unsupported {
  std::string node;  // its name; empty where it is no node
  std::string op, domain;
  int64_t version = 0;  // of the domain's opset
  std::string what;     // "operator Foo of domain 'bar' is unknown"
  std::string fix;      // what to do about it
};

/// The fix where hasten itself has none.
inline constexpr const char* kOtherEngine =
    "run the model with @engine=onnxruntime or @engine=openvino";

/// All of it, subgraphs included, in the order of the file; weights are not read. What shows only
/// when shapes and dtypes are known is not here: see infer_graph(). Errors: io, invalid_model.
Result<std::vector<Unsupported>> list_unsupported(const std::string& path);
Result<std::vector<Unsupported>> list_unsupported(std::span<const std::byte> bytes);

}  // namespace hasten
