#include "engine/exec/native.h"

#include <algorithm>

#include "engine/exec/native_runner.h"
#include "engine/ops/bind.h"
#include "engine/plan/evaluate.h"

namespace hasten {

namespace {

std::vector<Port> ports(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Port> out;
  for (ValueId id : ids) {
    const Value& v = graph.value(id);
    out.push_back({v.name, v.dtype, v.has_shape, v.shape});
  }
  return out;
}

/// All that is unsupported, in one message.
Status refuse(const std::vector<RefusedNode>& refused) {
  if (refused.empty()) return {};
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(refused.size(), kShown); ++i)
    text += (i == 0 ? "" : "; ") + refused[i].why;
  if (refused.size() > kShown) text += fmt::format("; and {} more", refused.size() - kShown);
  return fail(Code::kUnsupported, "{}", text);
}

Evaluator make_evaluator(const KernelTable& kernels, const EngineOptions& options) {
  EvaluateOptions evaluate;
  if (!options.reference_only) evaluate.kernels = &kernels;
  evaluate.exact_math = options.math == MathMode::kExact;
  return [evaluate](const Node& node, std::span<const Tensor> inputs) {
    return evaluate_node(node, inputs, evaluate);
  };
}

}  // namespace

NativeEngine::NativeEngine(Context& context, Graph graph, const EngineOptions& options)
    : context_(context), graph_(std::move(graph)), options_(options) {
  threads_ = options.threads > 0 ? options.threads : choose_threads(context.cpu()).threads;
}

void NativeEngine::set_up() {
  inputs_ = ports(graph_, graph_.main.inputs);
  outputs_ = ports(graph_, graph_.main.outputs);
  plan_.graph = &graph_;
  plan_.kernels = &context_.kernels();
  plan_.packed = packed_.get();
  plan_.evaluate = make_evaluator(context_.kernels(), options_);
  plan_.exact_math = options_.math == MathMode::kExact;
  plan_.reference_only = options_.reference_only;
  plan_.threads = threads_;
  plans_ = std::make_unique<PlanCache>(plan_, graph_.main, graph_.main.inputs);
}

RunContext NativeEngine::run_context() {
  return {&bodies_, context_.pool(threads_, options_.spin), packed_.get(), options_.memory_limit};
}

Result<std::unique_ptr<NativeEngine>> NativeEngine::compile(Context& context, Graph graph,
                                                            const EngineOptions& options,
                                                            const LoadClock& clock,
                                                            std::span<const Pass> passes) {
  std::unique_ptr<NativeEngine> engine(new NativeEngine(context, std::move(graph), options));
  engine->packed_ = std::make_unique<PackedStore>(static_cast<size_t>(options.memory_limit));
  const Evaluator evaluate = make_evaluator(context.kernels(), options);
  std::vector<RefusedNode> refused;
  HASTEN_CHECK(infer_graph(engine->graph_, evaluate, nullptr, &refused));
  HASTEN_CHECK(refuse(refused));
  HASTEN_CHECK(check_bound(engine->graph_.main));  // passes go by the names of operators
  HASTEN_CHECK(clock.check());
  if (options.enable_passes) {
    PassContext pass;
    pass.limits = options.limits;
    pass.clock = clock;
    pass.evaluate = evaluate;
    pass.exact_math = options.math == MathMode::kExact;
    pass.log = &context.log();
    std::set<std::string> disabled(options.disabled_passes.begin(), options.disabled_passes.end());
    if (options.reference_only) disabled.insert("place_layouts");  // references know one layout
    HASTEN_TRY(engine->passes_, run_passes(engine->graph_, pass, disabled, passes));
  }
  engine->set_up();
  return engine;
}

Result<std::unique_ptr<NativeEngine>> NativeEngine::resume(Context& context, Graph graph,
                                                           const EngineOptions& options,
                                                           std::unique_ptr<PackedStore> packed) {
  std::unique_ptr<NativeEngine> engine(new NativeEngine(context, std::move(graph), options));
  engine->packed_ = std::move(packed);
  engine->set_up();
  return engine;
}

std::string NativeEngine::version() const {
  return fmt::format("native {} {}", HASTEN_VERSION, isa_name(context_.isa()));
}

Result<std::unique_ptr<Runner>> NativeEngine::make_runner() {
  return std::unique_ptr<Runner>(new NativeRunner(*this));
}

std::vector<StepInfo> NativeEngine::steps(const Runner& runner) const {
  std::vector<StepInfo> steps;
  for (const Segment* segment : static_cast<const NativeRunner&>(runner).segments()) {
    for (const Step& step : segment->steps) steps.push_back(step.info);
  }
  return steps;
}

}  // namespace hasten
