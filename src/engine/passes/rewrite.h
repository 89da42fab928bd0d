// What rewrites share: who makes a value, who reads it, and how to replace it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/ir/graph.h"

namespace hasten {

/// Producers and readers of the values of one block, kept up to date by the functions here.
/// Nodes are marked dead rather than erased, so that indices stay valid; sweep() erases them.
class Rewriter {
 public:
  Rewriter(Graph& graph, Block& block);

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  size_t size() const { return block_.nodes.size(); }
  Node& node(size_t i) { return block_.nodes[i]; }
  const Node& node(size_t i) const { return block_.nodes[i]; }
  bool alive(size_t i) const { return alive_[i]; }

  /// The node of this block that makes the value, or -1 (an input, a constant, an outer value).
  int producer(ValueId id) const { return producer_[static_cast<size_t>(id)]; }
  Node* producer_node(ValueId id);
  /// How often the value is read by anything in the whole graph, or returned.
  int uses(ValueId id) const { return uses_[static_cast<size_t>(id)]; }
  /// The only reader is one node of this block, and it isn't an output: that node's index, else -1.
  int single_user(ValueId id) const;
  bool is_output(ValueId id) const;
  const Value& value(ValueId id) const { return graph_.value(id); }
  /// The constant elements of a value, or null.
  const Tensor* constant(ValueId id) const;
  /// A constant of one element of a float dtype: its value.
  bool scalar(ValueId id, float* value) const;

  /// All readers of `from`, block outputs included, read `to` instead.
  void replace_uses(ValueId from, ValueId to);
  void set_input(size_t node, size_t input, ValueId to);
  void remove(size_t node);
  /// Takes over the output value of another node (which must be dead or die).
  void set_output(size_t node, size_t output, ValueId id);
  /// Adds a node right before `position`; it is in the block from sweep() on.
  void insert_before(size_t position, Node node);
  /// Adds a value that nothing makes or reads yet.
  ValueId new_value(const std::string& name, DType dtype);
  ValueId new_constant(const std::string& name, Tensor tensor);

  /// Erases dead nodes and places inserted ones. The Rewriter is spent then.
  void sweep();

 private:
  Graph& graph_;
  Block& block_;
  std::vector<bool> alive_;
  std::vector<int> producer_;
  std::vector<int> uses_;
  std::vector<std::vector<int>> readers_;
  std::vector<std::pair<size_t, Node>> inserted_;
};

/// Calls fn for every block, innermost first; returns the sum of what it returned.
Result<int> for_each_block(Graph& graph, const std::function<Result<int>(Block&)>& fn);

}  // namespace hasten
