#include "engine/plan/plan_cache.h"

#include <set>

namespace hasten {

Result<std::shared_ptr<Segment>> PlanCache::get(std::span<const TensorView> inputs) {
  std::string key;
  for (const TensorView& v : inputs) {
    key.push_back(static_cast<char>(v.dtype));
    key.append(reinterpret_cast<const char*>(v.dims.data()), v.dims.size() * sizeof(int64_t));
    key.push_back('/');
  }
  {
    std::lock_guard lock(mutex_);
    if (auto it = by_key_.find(key); it != by_key_.end()) {
      plans_.splice(plans_.begin(), plans_, it->second);
      return it->second->second;
    }
  }
  std::vector<Facts> facts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& v = inputs[i];
    facts.push_back({v.dtype,
                     true,
                     to_shape(v.dims),
                     Layout::kPlain,
                     {},
                     false,
                     context_.graph->value(ids_[i]).element});
  }
  HASTEN_TRY(std::shared_ptr<Segment> segment,
             build_segment(context_, start_path(context_, block_, ids_, facts)));
  std::lock_guard lock(mutex_);
  if (auto it = by_key_.find(key); it != by_key_.end()) return it->second->second;
  plans_.emplace_front(key, segment);
  by_key_[key] = plans_.begin();
  if (plans_.size() > kMaxPlans) {
    by_key_.erase(plans_.back().first);
    plans_.pop_back();
  }
  return segment;
}

namespace {

void collect(const Block& block, std::set<ValueId>& made, const std::function<void(ValueId)>& use) {
  made.insert(block.inputs.begin(), block.inputs.end());
  for (const Node& node : block.nodes) {
    for (ValueId id : node.inputs) {
      if (id != kNoValue) use(id);
    }
    for (const NamedBlock& inner : node.blocks) collect(inner.block, made, use);
    made.insert(node.outputs.begin(), node.outputs.end());
  }
  for (ValueId id : block.outputs) use(id);
}

}  // namespace

std::vector<ValueId> captured_values(const Graph& graph, const Block& block) {
  std::set<ValueId> made, seen;
  std::vector<ValueId> captured;
  collect(block, made, [&](ValueId id) {
    if (!made.count(id) && !graph.value(id).is_constant() && seen.insert(id).second) {
      captured.push_back(id);
    }
  });
  return captured;
}

}  // namespace hasten
