// The plans of one block, by the shapes of what it is given.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/plan/plan.h"

namespace hasten {

/// Remembers the last kMaxPlans shapes; threads may share it.
class PlanCache {
 public:
  static constexpr size_t kMaxPlans = 128;

  /// `ids`: the values that get() gives from outside (see start_path).
  PlanCache(const PlanContext& context, const Block& block, std::vector<ValueId> ids)
      : context_(context), block_(block), ids_(std::move(ids)) {}

  const PlanContext& context() const { return context_; }
  const Block& block() const { return block_; }
  const std::vector<ValueId>& ids() const { return ids_; }

  /// The first segment of the plan for inputs of these dtypes and dims, made on first use. Errors:
  /// those of build_segment().
  Result<std::shared_ptr<Segment>> get(std::span<const TensorView> inputs);

 private:
  const PlanContext& context_;
  const Block& block_;
  const std::vector<ValueId> ids_;
  std::mutex mutex_;  // guards the plans
  using Plans = std::list<std::pair<std::string, std::shared_ptr<Segment>>>;
  Plans plans_;  // most recently used first
  std::unordered_map<std::string, Plans::iterator> by_key_;
};

/// What a block reads of the blocks around it, constants left out, each once.
std::vector<ValueId> captured_values(const Graph& graph, const Block& block);

}  // namespace hasten
