#include "engine/ir/graph.h"

#include <algorithm>
#include <unordered_map>

#include "base/mapped_file.h"

namespace hasten {

const Attr* Node::find_attr(std::string_view key) const {
  for (const auto& [name, value] : attrs) {
    if (name == key) return &value;
  }
  return nullptr;
}

namespace {

template <class T>
T attr_or(const Node& node, std::string_view key, T otherwise) {
  const Attr* attr = node.find_attr(key);
  const T* value = attr ? std::get_if<T>(attr) : nullptr;
  return value ? *value : otherwise;
}

}  // namespace

int64_t Node::attr_int(std::string_view key, int64_t otherwise) const {
  return attr_or<int64_t>(*this, key, otherwise);
}
float Node::attr_float(std::string_view key, float otherwise) const {
  return attr_or<float>(*this, key, otherwise);
}
std::string Node::attr_string(std::string_view key, std::string_view otherwise) const {
  return attr_or<std::string>(*this, key, std::string(otherwise));
}
std::vector<int64_t> Node::attr_ints(std::string_view key, std::vector<int64_t> otherwise) const {
  return attr_or<std::vector<int64_t>>(*this, key, std::move(otherwise));
}
std::vector<float> Node::attr_floats(std::string_view key) const {
  return attr_or<std::vector<float>>(*this, key, {});
}

void Node::set_attr(std::string_view key, Attr value) {
  for (auto& [name, old] : attrs) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  attrs.emplace_back(std::string(key), std::move(value));
}

std::string Node::label() const {
  return name.empty() ? fmt::format("node ({})", op) : fmt::format("node '{}' ({})", name, op);
}

Status check_files(const Graph& graph) {
  for (const auto& file : graph.files) HASTEN_CHECK(file->check_intact());
  return {};
}

ValueId Graph::add_value(Value v) {
  values.push_back(std::move(v));
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(std::string constant_name, Tensor tensor) {
  Value v;
  v.name = std::move(constant_name);
  v.dtype = tensor.dtype();
  v.has_shape = true;
  v.shape = to_shape(tensor.dims());
  v.constant = std::move(tensor);
  return add_value(std::move(v));
}

void for_each_use(const Node& node, const std::function<void(ValueId)>& fn) {
  for (ValueId id : node.inputs) {
    if (id != kNoValue) fn(id);
  }
  for (const auto& [name, block] : node.blocks) {
    for (const Node& inner : block.nodes) for_each_use(inner, fn);
    for (ValueId id : block.outputs) fn(id);
  }
}

std::vector<int> count_uses(const Graph& graph) {
  std::vector<int> uses(graph.values.size(), 0);
  for (const Node& node : graph.main.nodes) {
    for_each_use(node, [&](ValueId id) { ++uses[static_cast<size_t>(id)]; });
  }
  for (ValueId id : graph.main.outputs) ++uses[static_cast<size_t>(id)];
  return uses;
}

namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), made_(graph.values.size(), false) {
    for (size_t i = 0; i < graph.values.size(); ++i) made_[i] = graph.values[i].is_constant();
  }

  Status block(const Block& block) {
    for (ValueId id : block.inputs) {
      HASTEN_CHECK(in_range(id, "an input"));
      // An input may also have a default: an initializer of the same name.
      made_[static_cast<size_t>(id)] = true;
    }
    for (const Node& node : block.nodes) {
      for (ValueId id : node.inputs) {
        if (id != kNoValue) HASTEN_CHECK(is_made(id, node.label()));
      }
      for (const auto& [name, inner] : node.blocks) HASTEN_CHECK(this->block(inner));
      for (ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        HASTEN_CHECK(in_range(id, node.label()));
        if (made_[static_cast<size_t>(id)]) {
          return fail(Code::kInvalidModel, "{}: value '{}' is made twice", node.label(),
                      graph_.value(id).name);
        }
        made_[static_cast<size_t>(id)] = true;
      }
    }
    for (ValueId id : block.outputs) HASTEN_CHECK(is_made(id, "an output"));
    return {};
  }

 private:
  Status in_range(ValueId id, const std::string& where) const {
    if (id >= 0 && static_cast<size_t>(id) < graph_.values.size()) return {};
    return fail(Code::kInvalidModel, "{}: value number {} of {}", where, id, graph_.values.size());
  }
  Status is_made(ValueId id, const std::string& where) const {
    HASTEN_CHECK(in_range(id, where));
    if (made_[static_cast<size_t>(id)]) return {};
    return fail(Code::kInvalidModel, "{}: value '{}' is used before anything makes it", where,
                graph_.value(id).name);
  }

  const Graph& graph_;
  std::vector<bool> made_;
};

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph).block(graph.main); }

Status sort_topologically(Block& block) {
  const size_t n = block.nodes.size();
  std::unordered_map<ValueId, size_t> producer;
  for (size_t i = 0; i < n; ++i) {
    for (ValueId id : block.nodes[i].outputs) {
      if (id != kNoValue) producer.emplace(id, i);
    }
  }
  std::vector<std::vector<size_t>> users(n);
  std::vector<size_t> missing(n, 0);
  for (size_t i = 0; i < n; ++i) {
    for_each_use(block.nodes[i], [&](ValueId id) {
      auto it = producer.find(id);
      if (it == producer.end()) return;
      users[it->second].push_back(i);
      ++missing[i];
    });
  }
  // Kahn's algorithm, taking the first ready node in file order: a sorted block stays as it is.
  std::vector<size_t> order;
  std::vector<size_t> ready;
  auto later = std::greater<>();
  for (size_t i = 0; i < n; ++i) {
    if (missing[i] == 0) ready.push_back(i);
  }
  std::make_heap(ready.begin(), ready.end(), later);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    const size_t i = ready.back();
    ready.pop_back();
    order.push_back(i);
    for (size_t user : users[i]) {
      if (--missing[user] == 0) {
        ready.push_back(user);
        std::push_heap(ready.begin(), ready.end(), later);
      }
    }
  }
  if (order.size() != n) {
    for (size_t i = 0; i < n; ++i) {
      if (missing[i] > 0) {
        return fail(Code::kInvalidModel, "{} is part of a cycle: it needs its own output",
                    block.nodes[i].label());
      }
    }
  }
  if (std::is_sorted(order.begin(), order.end())) return {};
  std::vector<Node> nodes;
  nodes.reserve(n);
  for (size_t i : order) nodes.push_back(std::move(block.nodes[i]));
  block.nodes = std::move(nodes);
  return {};
}

}  // namespace hasten
