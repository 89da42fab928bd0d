#include "engine/exec/native_runner.h"

#include <cstring>

#include "base/clock.h"
#include "engine/ops/numbers.h"
#include "engine/plan/evaluate.h"

namespace hasten {

namespace {
constexpr size_t kMaxChildren = 64;  // per segment: values seen at a value-dependent point
}

NativeRunner::NativeRunner(NativeEngine& engine)
    : engine_(engine),
      pool_(engine.context().pool(engine.threads())),
      outputs_(engine.outputs().size()),
      output_views_(engine.outputs().size()) {}

std::vector<const Segment*> NativeRunner::segments() const {
  std::vector<const Segment*> out;
  for (size_t i = 0; i < used_depths_; ++i) out.push_back(bound_[i]->segment.get());
  return out;
}

Status NativeRunner::check_input(size_t i, const TensorView& view) const {
  const Port& port = engine_.inputs()[i];
  if (view.dtype != port.dtype) {
    return fail(Code::kInvalidArgument, "input '{}' is {}, the model wants {}", port.name,
                dtype_name(view.dtype), dtype_name(port.dtype));
  }
  HASTEN_CHECK(checked_count(view.dims));
  if (!port.has_shape) return {};
  bool fits = view.dims.size() == port.shape.size();
  for (size_t d = 0; fits && d < view.dims.size(); ++d) {
    fits = !port.shape[d].known() || port.shape[d].value() == view.dims[d];
  }
  if (!fits) {
    return fail(Code::kInvalidArgument, "input '{}' has shape {}, the model wants {}", port.name,
                dims_text(view.dims), shape_text(port.shape));
  }
  return {};
}

Status NativeRunner::bind(std::span<const TensorView> inputs) {
  if (inputs.size() != engine_.inputs().size()) {
    return fail(Code::kInvalidArgument, "{} inputs given, the model has {}", inputs.size(),
                engine_.inputs().size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) HASTEN_CHECK(check_input(i, inputs[i]));
  root_.reset();
  inputs_.assign(inputs.begin(), inputs.end());
  HASTEN_TRY(root_, engine_.root_segment(inputs));
  used_depths_ = 0;
  return bind_segment(0, root_);
}

const void* NativeRunner::address(const Place& place) const {
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

Status NativeRunner::set_output(const Segment::Output& output) {
  Tensor& tensor = outputs_[static_cast<size_t>(output.index)];
  if (tensor.empty() || tensor.dtype() != output.dtype || tensor.count() != count_of(output.dims)) {
    HASTEN_TRY(tensor, Tensor::make(output.dtype, output.dims));
  } else {
    tensor = tensor.reshaped(output.dims);
  }
  output_views_[static_cast<size_t>(output.index)] = tensor.view();
  return {};
}

Status NativeRunner::bind_segment(size_t depth, std::shared_ptr<Segment> segment) {
  while (bound_.size() <= depth) bound_.push_back(std::make_unique<Bound>());
  for (size_t d = depth; d < bound_.size(); ++d) bound_[d]->segment.reset();
  Bound& bound = *bound_[depth];
  if (bound.arena.empty() || bound.arena.bytes() < segment->arena_bytes) {
    const int64_t limit = engine_.options().memory_limit;
    const int64_t need =
        static_cast<int64_t>(segment->arena_bytes) + static_cast<int64_t>(engine_.packed().bytes());
    if (limit > 0 && need > limit) {
      return fail(
          Code::kOutOfMemory,
          "the model needs {} bytes of activations and packed weights for these inputs, the "
          "limit is {}: raise --memory-limit or make the inputs smaller",
          need, limit);
    }
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
  }
  bound.segment = std::move(segment);
  return {};
}

Status NativeRunner::run(Observer* observer) {
  if (!root_) return fail(Code::kInvalidArgument, "run before bind: no inputs are set");
  if (observer) observer->run_begin(now_ns());
  std::shared_ptr<Segment> segment = root_;
  for (size_t depth = 0;; ++depth) {
    if (depth >= bound_.size() || bound_[depth]->segment != segment) {
      HASTEN_CHECK(bind_segment(depth, segment));
    }
    used_depths_ = depth + 1;
    Bound& bound = *bound_[depth];
    HASTEN_CHECK(run_steps(bound, observer));
    if (segment->end == Segment::End::kDone) break;
    HASTEN_TRY(segment, next(bound));
  }
  for (const OutputCopy& copy : segment->copies) {
    Tensor& to = outputs_[static_cast<size_t>(copy.output)];
    copy_elements(to.dtype(), address(copy.from), to.mutable_data(), to.count());
  }
  if (observer) observer->run_end(now_ns());
  return {};
}

Status NativeRunner::run_steps(Bound& bound, Observer* observer) {
  int64_t begin = observer ? now_ns() : 0;
  const std::vector<Step>& steps = bound.segment->steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const Bound::Call& call = bound.calls[i];
    if (step.run) {
      const StepArgs args{bound.in.data() + call.in, bound.out.data() + call.out, call.scratch,
                          pool_, &fault_};
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

Status NativeRunner::run_reference(const Step& step, const Bound::Call& call, const Bound& bound) {
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

TensorView NativeRunner::view(const Path& path, ValueId id) const {
  const Facts& f = path.facts[static_cast<size_t>(id)];
  return {f.dtype, to_dims(f.shape), address(path.places[static_cast<size_t>(id)]), f.layout};
}

Result<std::shared_ptr<Segment>> NativeRunner::next(Bound& bound) {
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
  if (node.def->reference == nullptr) {
    return fail(Code::kUnsupported, "{}: output shapes that depend on elements", node.label());
  }
  RefContext context(node, views, [&](size_t i, DType dtype, const Dims& dims) -> Result<void*> {
    Tensor& tensor = heap_[node.outputs[i]];
    HASTEN_TRY(tensor, Tensor::make(dtype, dims));
    key.append(reinterpret_cast<const char*>(dims.data()), dims.size() * sizeof(int64_t));
    key.push_back('/');
    return tensor.mutable_data();
  });
  HASTEN_CHECK(node.def->reference(context));
  return child(segment, key, [&](Path& to) {
    for (ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const Tensor& tensor = heap_.at(id);
      to.facts[static_cast<size_t>(id)] = {tensor.dtype(), true, to_shape(tensor.dims()),
                                           Layout::kPlain, {},   false};
      Place& place = to.places[static_cast<size_t>(id)];
      place = {};
      place.kind = Place::kHeap;
      place.index = id;
    }
    ++to.stack.back().next;
    to.values_read = false;
  });
}

Result<std::shared_ptr<Segment>> NativeRunner::child(Segment& segment, const std::string& key,
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
  HASTEN_TRY(std::shared_ptr<Segment> made, build_segment(engine_.plan_context(), std::move(path)));
  std::lock_guard lock(segment.mutex);
  if (segment.children.size() >= kMaxChildren) segment.children.clear();
  return segment.children.try_emplace(key, std::move(made)).first->second;
}

}  // namespace hasten
