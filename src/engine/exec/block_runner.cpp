#include "engine/exec/block_runner.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "engine/exec/loops.h"
#include "engine/ops/numbers.h"
#include "engine/plan/step_cost.h"

namespace hasten {

namespace {
constexpr size_t kMaxChildren = 64;  // per segment: values seen at a value-dependent point
}

PlanCache& BodyPlans::of(const Block& body) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<PlanCache>& plans = plans_[&body];
  if (!plans) {
    std::vector<ValueId> ids = body.inputs;
    const std::vector<ValueId> captured = captured_values(*context_.graph, body);
    ids.insert(ids.end(), captured.begin(), captured.end());
    plans = std::make_unique<PlanCache>(context_, body, std::move(ids));
  }
  return *plans;
}

BlockRunner::BlockRunner(PlanCache& plans, const RunContext& context)
    : plans_(plans),
      context_(context),
      outputs_(plans.block().outputs.size()),
      output_views_(plans.block().outputs.size()) {}

std::vector<const Segment*> BlockRunner::segments() const {
  std::vector<const Segment*> out;
  for (size_t i = 0; i < used_depths_; ++i) out.push_back(bound_[i]->segment.get());
  return out;
}

double BlockRunner::shared_ns() {
  if (context_.pool == nullptr) return 0;
  const double distance = context_.pool->distance_ns();
  if (distance == shared_at_distance_) return shared_ns_;
  shared_at_distance_ = distance;
  shared_ns_ = 0;
  for (const std::unique_ptr<Bound>& bound : bound_) {
    if (!bound->segment) continue;
    for (const Step& step : bound->segment->steps) {
      if (step.share_within_ns >= distance) shared_ns_ += step.ns;
    }
    const Node* end = bound->segment->end_node;
    if (end != nullptr && end->op != "If" && !end->blocks.empty()) shared_ns_ += kUnknownNs;
  }
  return shared_ns_;
}

Status BlockRunner::bind(std::span<const TensorView> inputs) {
  // A loop binds again for each step, mostly to what is bound already.
  bool same_shapes = root_ != nullptr, same_places = root_ != nullptr;
  for (size_t i = 0; i < inputs.size() && same_shapes; ++i) {
    same_shapes = inputs[i].dtype == inputs_[i].dtype && inputs[i].dims == inputs_[i].dims;
    same_places = same_places && inputs[i].data == inputs_[i].data;
  }
  if (same_shapes && same_places) return {};
  if (!same_shapes) root_.reset();
  inputs_.assign(inputs.begin(), inputs.end());
  if (!same_shapes) {
    HASTEN_TRY(root_, plans_.get(inputs));
  }
  used_depths_ = 0;
  return bind_segment(0, root_);
}

const void* BlockRunner::address(const Place& place) const {
  switch (place.kind) {
    case Place::kArena:
      return bound_[static_cast<size_t>(place.depth)]->arena.as<std::byte>() + place.offset;
    case Place::kConstant:
      return place.data;
    case Place::kInput:
      return inputs_[static_cast<size_t>(place.index)].data;
    case Place::kOutput:
      return outputs_[static_cast<size_t>(place.index)].data();
    case Place::kHeap:
      return heap_.at(place.index).data();
    default:
      return nullptr;
  }
}

Status BlockRunner::set_output(const Segment::Output& output) {
  Tensor& tensor = outputs_[static_cast<size_t>(output.index)];
  if (tensor.empty() || tensor.dtype() != output.dtype || tensor.count() != count_of(output.dims)) {
    HASTEN_TRY(tensor, Tensor::make(output.dtype, output.dims));
  } else {
    tensor = tensor.reshaped(output.dims);
  }
  output_views_[static_cast<size_t>(output.index)] = tensor.view();
  return {};
}

Status BlockRunner::check_budget(int64_t bytes) const {
  const int64_t limit = context_.memory_limit;
  if (limit == 0 || bytes <= limit) return {};
  return fail(Code::kOutOfMemory,
              "the model needs {} bytes of activations and packed weights for these inputs, the "
              "limit is {}: raise --memory-limit or make the inputs smaller",
              bytes, limit);
}

Status BlockRunner::bind_segment(size_t depth, std::shared_ptr<Segment> segment) {
  while (bound_.size() <= depth) bound_.push_back(std::make_unique<Bound>());
  for (size_t d = depth; d < bound_.size(); ++d) bound_[d]->segment.reset();
  Bound& bound = *bound_[depth];
  int64_t need =
      static_cast<int64_t>(segment->arena_bytes) + static_cast<int64_t>(context_.packed->bytes());
  for (const Segment::Output& output : segment->outputs) {
    need += count_of(output.dims) * static_cast<int64_t>(dtype_size(output.dtype));
  }
  HASTEN_CHECK(check_budget(need));
  if (bound.arena.empty() || bound.arena.bytes() < segment->arena_bytes) {
    bound.arena = Tensor();
    HASTEN_TRY(bound.arena, Tensor::make(DType::kU8, {static_cast<int64_t>(segment->arena_bytes)}));
  }
  for (const Segment::Output& output : segment->outputs) HASTEN_CHECK(set_output(output));
  bound.in.clear();
  bound.out.clear();
  bound.calls.clear();
  for (const Step& step : segment->steps) {
    bound.calls.push_back({static_cast<uint32_t>(bound.in.size()),
                           static_cast<uint32_t>(bound.out.size()),
                           static_cast<std::byte*>(const_cast<void*>(address(step.scratch)))});
    for (const Place& p : step.in) bound.in.push_back(address(p));
    for (const Place& p : step.out) bound.out.push_back(const_cast<void*>(address(p)));
    // Kernels see those that are left out at the end as null too.
    const OpDef& def = *step.node->def;
    for (int i = static_cast<int>(step.in.size()); i < def.max_inputs; ++i) {
      bound.in.push_back(nullptr);
    }
    for (int i = static_cast<int>(step.out.size()); i < def.max_outputs; ++i) {
      bound.out.push_back(nullptr);
    }
  }
  bound.segment = std::move(segment);
  shared_at_distance_ = -1;
  return {};
}

Status BlockRunner::run(Observer* observer) {
  if (!root_) return fail(Code::kInvalidArgument, "run before bind: no inputs are set");
  std::shared_ptr<Segment> segment = root_;
  for (size_t depth = 0;; ++depth) {
    if (depth >= bound_.size() || bound_[depth]->segment != segment) {
      HASTEN_CHECK(bind_segment(depth, segment));
    }
    used_depths_ = depth + 1;
    Bound& bound = *bound_[depth];
    HASTEN_CHECK(run_steps(bound, observer));
    if (segment->end == Segment::End::kDone) break;
    HASTEN_TRY(segment, next(bound, observer));
  }
  for (const OutputCopy& copy : segment->copies) {
    Tensor& to = outputs_[static_cast<size_t>(copy.output)];
    copy_elements(to.dtype(), address(copy.from), to.mutable_data(), to.count());
  }
  return {};
}

Status BlockRunner::run_steps(Bound& bound, Observer* observer) {
  int64_t begin = observer ? now_ns() : 0;
  const double distance = context_.pool ? context_.pool->distance_ns() : 0;
  const std::vector<Step>& steps = bound.segment->steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const Bound::Call& call = bound.calls[i];
    if (step.run) {
      const StepArgs args{bound.in.data() + call.in, bound.out.data() + call.out, call.scratch,
                          step.share_within_ns < distance ? nullptr : context_.pool, &fault_};
      step.run(args);
      if (fault_.load(std::memory_order_relaxed) != 0) {
        const std::atomic<int64_t> fault{fault_.exchange(0)};
        return check_fault(*step.node, fault);
      }
    } else {
      HASTEN_CHECK(run_reference(step, call, bound));
    }
    if (observer) {
      const int64_t end = now_ns();
      observer->step(step.info, begin, end);
      begin = end;
    }
  }
  return {};
}

Status BlockRunner::run_reference(const Step& step, const Bound::Call& call, const Bound& bound) {
  std::vector<TensorView> views(step.in.size());
  for (size_t i = 0; i < views.size(); ++i) {
    const Facts& f = step.in_facts[i];
    if (f.dtype == DType::kNone) continue;
    views[i] = {f.dtype, to_dims(f.shape), bound.in[call.in + i], f.layout};
  }
  RefContext context(
      *step.node, views, [&](size_t i, DType dtype, const Dims& dims) -> Result<void*> {
        const Facts& f = step.out_facts[i];
        if (f.dtype != dtype || to_dims(f.shape) != dims) {
          return fail(Code::kInternal, "{}: output {} is {}{}, inference said {}",
                      step.node->label(), i, dtype_name(dtype), dims_text(dims), f.text());
        }
        return bound.out[call.out + i];
      });
  return step.node->def->reference(context);
}

TensorView BlockRunner::view(const Path& path, ValueId id) const {
  const Facts& f = path.facts[static_cast<size_t>(id)];
  return {f.dtype, to_dims(f.shape), address(path.places[static_cast<size_t>(id)]), f.layout};
}

Result<std::shared_ptr<Segment>> BlockRunner::next(Bound& bound, Observer* observer) {
  Segment& segment = *bound.segment;
  const Path& path = *segment.path;
  std::string key;
  if (segment.end == Segment::End::kReadValues) {
    for (ValueId id : segment.read) {
      const TensorView v = view(path, id);
      key.append(static_cast<const char*>(v.data),
                 static_cast<size_t>(v.count()) * dtype_size(v.dtype));
    }
    return child(segment, key, [&](Path& to) {
      for (ValueId id : segment.read) {
        const TensorView v = view(path, id);
        Tensor copy = *Tensor::make(v.dtype, v.dims);
        copy_elements(v.dtype, v.data, copy.mutable_data(), v.count());
        to.facts[static_cast<size_t>(id)].value = std::move(copy);
      }
      to.values_read = true;
    });
  }
  const Node& node = *segment.end_node;
  std::vector<TensorView> views(node.inputs.size());
  for (size_t i = 0; i < views.size(); ++i) {
    if (node.inputs[i] != kNoValue) views[i] = view(path, node.inputs[i]);
  }
  const auto describe = [&](DType dtype, const Dims& dims) {
    key.push_back(static_cast<char>(dtype));
    key.append(reinterpret_cast<const char*>(dims.data()), dims.size() * sizeof(int64_t));
    key.push_back('/');
  };
  if (!node.blocks.empty()) {
    HASTEN_TRY(std::vector<Tensor> made, run_body(node, path, views, observer));
    for (size_t i = 0; i < made.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      describe(made[i].dtype(), made[i].dims());
      heap_[node.outputs[i]] = std::move(made[i]);
    }
    return child(segment, key, [&](Path& to) { go_on(to, node); });
  }
  if (node.def->reference == nullptr) {
    return fail(Code::kUnsupported, "{}: output shapes that depend on elements", node.label());
  }
  RefContext context(node, views, [&](size_t i, DType dtype, const Dims& dims) -> Result<void*> {
    HASTEN_TRY(const int64_t count, checked_count(dims));
    const int64_t most = INT64_MAX / static_cast<int64_t>(dtype_size(dtype));
    HASTEN_CHECK(check_budget(std::min(count, most) * static_cast<int64_t>(dtype_size(dtype))));
    Tensor& tensor = heap_[node.outputs[i]];
    HASTEN_TRY(tensor, Tensor::make(dtype, dims));
    describe(dtype, dims);
    return tensor.mutable_data();
  });
  HASTEN_CHECK(node.def->reference(context));
  return child(segment, key, [&](Path& to) { go_on(to, node); });
}

void BlockRunner::go_on(Path& path, const Node& node) const {
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const Tensor& tensor = heap_.at(id);
    Facts& facts = path.facts[static_cast<size_t>(id)];
    facts = {tensor.dtype(), true,        to_shape(tensor.dims()), Layout::kPlain, {},
             false,          DType::kNone};
    if (holds_objects(tensor.dtype()) && tensor.dtype() != DType::kString && tensor.count() > 0) {
      facts.element = tensor.as<Tensor>()->dtype();
    }
    Place& place = path.places[static_cast<size_t>(id)];
    place = {};
    place.kind = Place::kHeap;
    place.index = id;
  }
  ++path.stack.back().next;
  path.values_read = false;
}

Result<std::vector<Tensor>> BlockRunner::run_body(const Node& node, const Path& path,
                                                  std::span<const TensorView> in,
                                                  Observer* observer) {
  const Block& body = node.blocks[0].block;
  PlanCache& plans = context_.bodies->of(body);
  std::unique_ptr<BlockRunner>& runner = bodies_[&node];
  if (!runner) runner = std::make_unique<BlockRunner>(plans, context_);
  std::vector<TensorView> captured;
  for (size_t i = body.inputs.size(); i < plans.ids().size(); ++i) {
    captured.push_back(view(path, plans.ids()[i]));
  }
  return run_loop({node, *plans_.context().graph, body, *runner, in, captured,
                   context_.memory_limit, observer});
}

Result<std::shared_ptr<Segment>> BlockRunner::child(Segment& segment, const std::string& key,
                                                    const std::function<void(Path&)>& advance) {
  // What lies on the heap moves from run to run: bind the child anew.
  if (segment.end == Segment::End::kDynamic) {
    for (size_t d = static_cast<size_t>(segment.depth) + 1; d < bound_.size(); ++d) {
      bound_[d]->segment.reset();
    }
  }
  {
    std::lock_guard lock(segment.mutex);
    if (auto it = segment.children.find(key); it != segment.children.end()) return it->second;
  }
  Path path = *segment.path;
  advance(path);
  HASTEN_TRY(std::shared_ptr<Segment> made, build_segment(plans_.context(), std::move(path)));
  std::lock_guard lock(segment.mutex);
  if (segment.children.size() >= kMaxChildren) segment.children.clear();
  return segment.children.try_emplace(key, std::move(made)).first->second;
}

}  // namespace hasten
