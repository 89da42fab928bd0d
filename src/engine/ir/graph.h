// The program of a model: values, and nodes that compute them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/ir/tensor.h"

namespace hasten {

class MappedFile;
struct OpDef;  // engine/ops/op.h

using ValueId = int32_t;
constexpr ValueId kNoValue = -1;  // an optional input or output that is absent

/// What a tensor is, as far as known before anything runs.
struct Value {
  std::string name;
  DType dtype = DType::kNone;
  DType element = DType::kNone;  // of a sequence or optional: what it holds, if known
  bool has_shape = false;        // false: even the rank is unknown
  Shape shape;
  Layout layout = Layout::kPlain;
  Tensor constant;  // not empty(): the value never changes
  /// For a weight's constant that a file holds: filled on demand only (see onnx/load.h).
  bool is_constant() const { return !constant.empty(); }
};

using Attr = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                          std::vector<std::string>, Tensor>;

struct NamedBlock;

/// One operator applied to values.
struct Node {
  std::string name;    // as in the file; may be empty or shared
  std::string domain;  // "" is ai.onnx; "hasten" marks what passes make
  std::string op;
  int64_t version = 0;                   // opset of its domain
  const OpDef* def = nullptr;            // null: unknown to us
  std::vector<ValueId> inputs, outputs;  // kNoValue where absent
  std::vector<std::pair<std::string, Attr>> attrs;
  std::vector<NamedBlock> blocks;  // then_branch, else_branch, body

  const Attr* find_attr(std::string_view key) const;
  int64_t attr_int(std::string_view key, int64_t otherwise) const;
  float attr_float(std::string_view key, float otherwise) const;
  std::string attr_string(std::string_view key, std::string_view otherwise) const;
  std::vector<int64_t> attr_ints(std::string_view key, std::vector<int64_t> otherwise = {}) const;
  std::vector<float> attr_floats(std::string_view key) const;
  void set_attr(std::string_view key, Attr value);
  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
  bool has_input(size_t i) const { return input(i) != kNoValue; }
  /// "node 'conv1' (Conv)": how messages name it.
  std::string label() const;
};

/// A list of nodes in an order in which each comes after what it needs. The body of a graph, or of
/// a subgraph: then it may use values of the blocks around it (captures) directly by id.
struct Block {
  std::vector<Node> nodes;
  std::vector<ValueId> inputs, outputs;
};

/// A block as the attribute of a node.
struct NamedBlock {
  std::string name;
  Block block;
};

/// A whole model. All values, those of subgraphs included, live in one table.
struct Graph {
  std::string name;
  std::map<std::string, int64_t> opsets;  // domain -> version
  int64_t ir_version = 0;
  std::map<std::string, std::string> metadata;
  std::vector<std::shared_ptr<const MappedFile>> files;  // that constants borrow from
  std::vector<Value> values;
  Block main;

  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }
  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  ValueId add_value(Value v);
  ValueId add_constant(std::string name, Tensor tensor);
};

/// Calls fn for each value that the node reads: its inputs and what its blocks capture or return.
void for_each_use(const Node& node, const std::function<void(ValueId)>& fn);

/// For each value, how many times it is read by nodes (of all blocks) or returned by a block.
std::vector<int> count_uses(const Graph& graph);

/// Checks the invariants: ids in range, each value made once, made before used, outputs made.
/// Error: invalid_model, naming the node and the value.
Status verify(const Graph& graph);

/// Have all files that constants borrow from stayed whole? Error: io, naming the one that has not.
Status check_files(const Graph& graph);

/// Brings the nodes of a block into an order in which each comes after what it needs.
/// Error: invalid_model naming a node of a cycle.
Status sort_topologically(Block& block);

}  // namespace hasten
