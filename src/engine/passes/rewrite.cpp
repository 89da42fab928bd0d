#include "engine/passes/rewrite.h"

#include <algorithm>

#include "engine/ops/numbers.h"

namespace hasten {

Rewriter::Rewriter(Graph& graph, Block& block)
    : graph_(graph),
      block_(block),
      alive_(block.nodes.size(), true),
      producer_(graph.values.size(), -1),
      uses_(count_uses(graph)),
      readers_(graph.values.size()) {
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    for (ValueId id : block.nodes[i].outputs) {
      if (id != kNoValue) producer_[static_cast<size_t>(id)] = static_cast<int>(i);
    }
    for_each_use(block.nodes[i], [&](ValueId id) {
      readers_[static_cast<size_t>(id)].push_back(static_cast<int>(i));
    });
  }
}

Node* Rewriter::producer_node(ValueId id) {
  if (id == kNoValue) return nullptr;
  const int i = producer(id);
  return i < 0 || !alive_[static_cast<size_t>(i)] ? nullptr : &block_.nodes[static_cast<size_t>(i)];
}

bool Rewriter::is_output(ValueId id) const {
  return std::find(block_.outputs.begin(), block_.outputs.end(), id) != block_.outputs.end();
}

int Rewriter::single_user(ValueId id) const {
  if (uses(id) != 1) return -1;
  for (int reader : readers_[static_cast<size_t>(id)]) {
    if (!alive_[static_cast<size_t>(reader)]) continue;
    const auto& inputs = block_.nodes[static_cast<size_t>(reader)].inputs;
    if (std::find(inputs.begin(), inputs.end(), id) != inputs.end()) return reader;
  }
  return -1;
}

const Tensor* Rewriter::constant(ValueId id) const {
  if (id == kNoValue || !graph_.value(id).is_constant()) return nullptr;
  return &graph_.value(id).constant;
}

bool Rewriter::scalar(ValueId id, float* value) const {
  const Tensor* t = constant(id);
  if (t == nullptr || t->count() != 1) return false;
  return dispatch_float(t->dtype(), [&](auto x) {
    using T = decltype(x);
    *value = static_cast<float>(Compute<T>::load(*t->as<T>()));
  });
}

void Rewriter::set_input(size_t node, size_t input, ValueId to) {
  ValueId& slot = block_.nodes[node].inputs[input];
  if (slot != kNoValue) --uses_[static_cast<size_t>(slot)];
  slot = to;
  if (to == kNoValue) return;
  ++uses_[static_cast<size_t>(to)];
  readers_[static_cast<size_t>(to)].push_back(static_cast<int>(node));
}

namespace {

void replace_in_block(Block& block, ValueId from, ValueId to) {
  for (Node& node : block.nodes) {
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    for (auto& [name, inner] : node.blocks) replace_in_block(inner, from, to);
  }
  std::replace(block.outputs.begin(), block.outputs.end(), from, to);
}

}  // namespace

void Rewriter::replace_uses(ValueId from, ValueId to) {
  for (int reader : readers_[static_cast<size_t>(from)]) {
    Node& node = block_.nodes[static_cast<size_t>(reader)];
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    for (auto& [name, inner] : node.blocks) replace_in_block(inner, from, to);
    readers_[static_cast<size_t>(to)].push_back(reader);
  }
  std::replace(block_.outputs.begin(), block_.outputs.end(), from, to);
  uses_[static_cast<size_t>(to)] += uses_[static_cast<size_t>(from)];
  uses_[static_cast<size_t>(from)] = 0;
}

void Rewriter::remove(size_t node) {
  if (!alive_[node]) return;
  alive_[node] = false;
  for_each_use(block_.nodes[node], [&](ValueId id) { --uses_[static_cast<size_t>(id)]; });
}

void Rewriter::set_output(size_t node, size_t output, ValueId id) {
  block_.nodes[node].outputs[output] = id;
  if (id != kNoValue) producer_[static_cast<size_t>(id)] = static_cast<int>(node);
}

void Rewriter::insert_before(size_t position, Node node) {
  for_each_use(node, [&](ValueId id) { ++uses_[static_cast<size_t>(id)]; });
  inserted_.emplace_back(position, std::move(node));
}

ValueId Rewriter::new_value(const std::string& name, DType dtype) {
  Value v;
  v.name = name;
  v.dtype = dtype;
  producer_.push_back(-1);
  uses_.push_back(0);
  readers_.emplace_back();
  return graph_.add_value(std::move(v));
}

ValueId Rewriter::new_constant(const std::string& name, Tensor tensor) {
  producer_.push_back(-1);
  uses_.push_back(0);
  readers_.emplace_back();
  return graph_.add_constant(name, std::move(tensor));
}

void Rewriter::sweep() {
  std::stable_sort(inserted_.begin(), inserted_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Node> nodes;
  nodes.reserve(block_.nodes.size() + inserted_.size());
  size_t next = 0;
  for (size_t i = 0; i <= block_.nodes.size(); ++i) {
    while (next < inserted_.size() && inserted_[next].first == i) {
      nodes.push_back(std::move(inserted_[next++].second));
    }
    if (i < block_.nodes.size() && alive_[i]) nodes.push_back(std::move(block_.nodes[i]));
  }
  block_.nodes = std::move(nodes);
}

Result<int> for_each_block(Graph& graph, const std::function<Result<int>(Block&)>& fn) {
  int total = 0;
  std::function<Status(Block&)> visit = [&](Block& block) -> Status {
    for (Node& node : block.nodes) {
      for (auto& [name, inner] : node.blocks) HASTEN_CHECK(visit(inner));
    }
    HASTEN_TRY(const int n, fn(block));
    total += n;
    return {};
  };
  HASTEN_CHECK(visit(graph.main));
  return total;
}

}  // namespace hasten
