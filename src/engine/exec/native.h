// Our own engine.
#pragma once

#include <memory>
#include <string>

#include "engine/exec/block_runner.h"
#include "engine/exec/engine.h"
#include "engine/passes/pass.h"
#include "engine/plan/plan_cache.h"

namespace hasten {

/// A graph after the passes, its packed weights, and the plans made for shapes seen so far.
class NativeEngine final : public Engine {
 public:
  /// Infers, and runs the passes that the options leave on (other passes: to test them). Errors:
  /// those of both; unsupported, naming everything that is; deadline.
  static Result<std::unique_ptr<NativeEngine>> compile(Context& context, Graph graph,
                                                       const EngineOptions& options,
                                                       const LoadClock& clock = {},
                                                       std::span<const Pass> passes = all_passes());
  /// Takes a graph that has been through the passes, with weights packed before (a plan file's).
  static Result<std::unique_ptr<NativeEngine>> resume(Context& context, Graph graph,
                                                      const EngineOptions& options,
                                                      std::unique_ptr<PackedStore> packed);

  const std::vector<Port>& inputs() const override { return inputs_; }
  const std::vector<Port>& outputs() const override { return outputs_; }
  Result<std::unique_ptr<Runner>> make_runner() override;
  std::string version() const override;
  int threads() const override { return threads_; }
  std::vector<StepInfo> steps(const Runner& runner) const override;

  const Graph& graph() const { return graph_; }
  const PackedStore& packed() const { return *packed_; }
  const std::vector<PassReport>& passes() const { return passes_; }
  const PlanContext& plan_context() const { return plan_; }
  const EngineOptions& options() const { return options_; }
  Context& context() const { return context_; }

  /// The plans made for shapes seen so far.
  PlanCache& plans() { return *plans_; }
  RunContext run_context();

 private:
  NativeEngine(Context& context, Graph graph, const EngineOptions& options);
  void set_up();

  Context& context_;
  Graph graph_;
  EngineOptions options_;
  int threads_ = 1;
  std::unique_ptr<PackedStore> packed_;
  std::vector<PassReport> passes_;
  std::vector<Port> inputs_, outputs_;
  PlanContext plan_;
  std::unique_ptr<PlanCache> plans_;
  BodyPlans bodies_{plan_};
};

}  // namespace hasten
