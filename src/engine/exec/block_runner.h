// One caller's buffers for one block, and the loop that runs its steps.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/exec/engine.h"
#include "engine/plan/plan_cache.h"

namespace hasten {

/// Where the plans of a model's loop bodies are kept: shared by the runners of an engine.
class BodyPlans {
 public:
  explicit BodyPlans(const PlanContext& context) : context_(context) {}
  /// Made on first use. The inputs are the block's, then captured_values().
  PlanCache& of(const Block& body);

 private:
  const PlanContext& context_;
  std::mutex mutex_;
  std::map<const Block*, std::unique_ptr<PlanCache>> plans_;
};

/// What runners of an engine share.
struct RunContext {
  BodyPlans* bodies = nullptr;
  ThreadPool* pool = nullptr;
  const PackedStore* packed = nullptr;
  int64_t memory_limit = 0;  // bytes of arena and packed weights; 0: none
};

/// Runs a block on inputs of any shapes; loops run their bodies in runners of their own.
class BlockRunner {
 public:
  BlockRunner(PlanCache& plans, const RunContext& context);

  /// Sets the inputs, as PlanCache::ids(): read in place at each run. Errors: those of planning.
  Status bind(std::span<const TensorView> inputs);
  /// Runs once on what is bound.
  Status run(Observer* observer);
  /// The block's outputs, of the last run; valid until the next bind or run.
  std::span<const TensorView> outputs() const { return output_views_; }

  /// One thread's time for what the team shares, in nanoseconds: a guess from the segments that are
  /// bound, and from how far the team is apart now.
  double shared_ns();
  /// The segments that the last run went through.
  std::vector<const Segment*> segments() const;

 private:
  /// A segment with the addresses of its operands.
  struct Bound {
    std::shared_ptr<Segment> segment;
    Tensor arena;  // grows; shared by all segments of this depth
    std::vector<const void*> in;
    std::vector<void*> out;
    struct Call {
      uint32_t in, out;  // where the step's operands begin
      std::byte* scratch;
    };
    std::vector<Call> calls;
  };

  /// Error: out_of_memory, where the limit is less.
  Status check_budget(int64_t bytes) const;
  Status bind_segment(size_t depth, std::shared_ptr<Segment> segment);
  Status run_steps(Bound& bound, Observer* observer);
  Status run_reference(const Step& step, const Bound::Call& call, const Bound& bound);
  /// The child in which the run goes on after `bound`.
  Result<std::shared_ptr<Segment>> next(Bound& bound, Observer* observer);
  Result<std::shared_ptr<Segment>> child(Segment& segment, const std::string& key,
                                         const std::function<void(Path&)>& advance);
  /// The outputs of a loop.
  Result<std::vector<Tensor>> run_body(const Node& node, const Path& path,
                                       std::span<const TensorView> in, Observer* observer);
  /// The path behind a node whose outputs lie on the heap now.
  void go_on(Path& path, const Node& node) const;
  const void* address(const Place& place) const;
  TensorView view(const Path& path, ValueId id) const;
  Status set_output(const Segment::Output& output);

  PlanCache& plans_;
  RunContext context_;
  std::vector<TensorView> inputs_;
  std::vector<std::unique_ptr<Bound>> bound_;  // by depth
  std::shared_ptr<Segment> root_;
  size_t used_depths_ = 0;
  double shared_ns_ = 0, shared_at_distance_ = -1;  // what was found last; -1: nothing
  std::unordered_map<int, Tensor> heap_;
  std::unordered_map<const Node*, std::unique_ptr<BlockRunner>> bodies_;  // of loops
  std::vector<Tensor> outputs_;
  std::vector<TensorView> output_views_;
  std::atomic<int64_t> fault_{0};
};

}  // namespace hasten
