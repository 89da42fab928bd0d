#include <algorithm>
#include <set>

#include "engine/kernels/kernels.h"
#include "engine/ops/bind.h"
#include "engine/plan/plan.h"
#include "engine/plan/step_cost.h"

namespace hasten {

namespace {

size_t value_bytes(const Facts& facts) {
  return static_cast<size_t>(storage_count(to_dims(facts.shape), facts.layout)) *
         dtype_size(facts.dtype);
}

/// A shape that asks for more memory than any machine has is a bad model, not a crash.
Status check_size(const Node& node, const Facts& facts) {
  auto count = checked_count(to_dims(facts.shape));
  if (!count) return fail(Code::kInvalidModel, "{}: {}", node.label(), count.error().message);
  if (*count > int64_t{1} << 40) {
    return fail(Code::kOutOfMemory, "{}: output {} is too large", node.label(), facts.text());
  }
  return {};
}

class Builder {
 public:
  Builder(const PlanContext& context, Path path)
      : context_(context), path_(std::move(path)), segment_(std::make_shared<Segment>()) {
    segment_->depth = path_.depth;
  }

  Result<std::shared_ptr<Segment>> build() {
    while (!path_.stack.empty() && segment_->end == Segment::End::kDone) {
      Path::Frame& frame = path_.stack.back();
      if (frame.next == frame.block->nodes.size()) {
        leave(frame);
        path_.stack.pop_back();
        continue;
      }
      HASTEN_CHECK(visit(frame.block->nodes[frame.next]));
    }
    finish();
    return segment_;
  }

 private:
  Facts& facts(ValueId id) { return path_.facts[static_cast<size_t>(id)]; }
  Place& place(ValueId id) { return path_.places[static_cast<size_t>(id)]; }

  void leave(const Path::Frame& frame) {
    if (frame.caller == nullptr) return;
    for (size_t i = 0; i < frame.block->outputs.size(); ++i) {
      const ValueId to = frame.caller->outputs[i];
      if (to == kNoValue) continue;
      facts(to) = facts(frame.block->outputs[i]);
      place(to) = place(frame.block->outputs[i]);
    }
  }

  void advance() {
    ++path_.stack.back().next;
    path_.values_read = false;
  }

  Status visit(const Node& node) {
    HASTEN_CHECK(check_bound(node));
    if (node.op == "If" && node.domain.empty()) return branch(node);
    if (!node.blocks.empty()) return stop(node);
    std::vector<const Facts*> in;
    for (ValueId id : node.inputs) in.push_back(id == kNoValue ? nullptr : &facts(id));
    std::vector<Facts> out(node.outputs.size());
    HASTEN_CHECK(infer_node(node, in, out, context_.evaluate));
    bool known = true, objects = false;
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      known = known && out[i].known_shape();
      objects = objects || holds_objects(out[i].dtype);
      out[i].layout = context_.graph->value(node.outputs[i]).layout;
    }
    if (!known || objects) {
      if (constant_outputs(node, out)) return {};
      return stop(node);
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] != kNoValue) HASTEN_CHECK(check_size(node, out[i]));
    }
    if (constant_outputs(node, out)) return {};
    return add_step(node, in, out);
  }

  /// All outputs known: no step at all.
  bool constant_outputs(const Node& node, std::vector<Facts>& out) {
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] != kNoValue && !out[i].known_value()) return false;
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      segment_->constants.push_back(out[i].value);
      Place& at = place(node.outputs[i]);
      at = {};
      at.kind = Place::kConstant;
      at.data = out[i].value.data();
      facts(node.outputs[i]) = std::move(out[i]);
    }
    advance();
    return true;
  }

  Status branch(const Node& node) {
    const Facts& condition = facts(node.inputs[0]);
    if (!condition.known_value()) return stop(node);
    if (condition.dtype != DType::kBool || condition.value.count() != 1) {
      return fail(Code::kInvalidModel, "{}: the condition is {}, it must be one bool", node.label(),
                  condition.text());
    }
    const char* key = *condition.value.as<bool>() ? "then_branch" : "else_branch";
    for (const auto& [name, block] : node.blocks) {
      if (name != key) continue;
      if (block.outputs.size() != node.outputs.size()) {
        return fail(Code::kInvalidModel, "{}: {} has {} outputs, the node has {}", node.label(),
                    key, block.outputs.size(), node.outputs.size());
      }
      advance();
      path_.stack.push_back({&block, 0, &node});
      return {};
    }
    return fail(Code::kInvalidModel, "{}: attribute {} is missing", node.label(), key);
  }

  /// What follows depends on elements: read them first, and if they were read already, run the
  /// node.
  Status stop(const Node& node) {
    segment_->end_node = &node;
    segment_->end = Segment::End::kDynamic;
    if (path_.values_read || !values_help(node)) return {};
    for (ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      const Facts& f = facts(id);
      if (!f.known_value() && !holds_objects(f.dtype) && f.known_shape() &&
          f.layout == Layout::kPlain && count_of(to_dims(f.shape)) <= kMaxKnownElements) {
        segment_->read.push_back(id);
      }
      if (node.op == "If") break;
    }
    if (!segment_->read.empty()) {
      segment_->end = Segment::End::kReadValues;
    } else if (node.op == "If") {
      return fail(Code::kInvalidModel, "{}: the condition must be one bool", node.label());
    }
    return {};
  }

  /// Loops look at their inputs as they go, and of what a sequence holds nothing is known.
  bool values_help(const Node& node) {
    if (node.op == "If") return true;
    return node.blocks.empty() &&
           std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
             return id != kNoValue && holds_objects(facts(id).dtype);
           });
  }

  int new_storage(size_t bytes) {
    storages_.push_back({static_cast<int64_t>(bytes), static_cast<int>(segment_->steps.size()),
                         static_cast<int>(segment_->steps.size()), 0});
    return static_cast<int>(storages_.size()) - 1;
  }
  Place arena_place(size_t bytes) {
    Place p;
    p.kind = Place::kArena;
    p.depth = segment_->depth;
    p.offset = new_storage(bytes);
    return p;
  }

  Status add_step(const Node& node, const std::vector<const Facts*>& in, std::vector<Facts>& out) {
    LowerContext lower(node, in, out, *context_.kernels, *context_.packed, segment_->packed,
                       context_.exact_math, context_.threads);
    if (!context_.reference_only || makes_no_elements(node, out)) HASTEN_CHECK(lower_node(lower));
    Lowered& lowered = lower.result();
    if (lowered.alias_of >= 0) {
      place(node.outputs[0]) = place(node.inputs[static_cast<size_t>(lowered.alias_of)]);
      facts(node.outputs[0]) = std::move(out[0]);
      advance();
      return {};
    }
    Step step;
    step.node = &node;
    const bool reference = lowered.kernel.empty();
    if (reference && node.def->reference == nullptr) {
      return fail(Code::kUnsupported, "{}: no kernel takes this{}{}", node.label(),
                  lowered.refused.empty() ? "" : ": ",
                  lowered.refused.empty() ? "" : lowered.refused.back().reason);
    }
    if (reference) HASTEN_CHECK(check_plain(node, lowered, in, out));
    if (!reference) step.run = std::move(lowered.run);
    describe(step, node, lowered, in, out);
    for (ValueId id : node.inputs) step.in.push_back(id == kNoValue ? Place{} : place(id));
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] == kNoValue) {
        step.out.push_back({});
        continue;
      }
      step.out.push_back(arena_place(value_bytes(out[i])));
      place(node.outputs[i]) = step.out.back();
    }
    if (lowered.scratch_bytes > 0) step.scratch = arena_place(lowered.scratch_bytes);
    if (reference) {
      for (const Facts* f : in) step.in_facts.push_back(f ? *f : Facts{});
      step.out_facts = out;
    }
    share(step, lowered, in, out);
    in_place_.push_back(std::move(lowered.in_place));
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] != kNoValue) facts(node.outputs[i]) = std::move(out[i]);
    }
    segment_->steps.push_back(std::move(step));
    advance();
    return {};
  }

  /// Judges how far other threads may be to be worth calling. `out` must still be whole.
  void share(Step& step, const Lowered& lowered, const std::vector<const Facts*>& in,
             const std::vector<Facts>& out) {
    const Node& node = *step.node;
    double moved = 2 * static_cast<double>(lowered.scratch_bytes);
    for (const Facts* f : in) {
      if (f != nullptr && !f->constant) moved += static_cast<double>(value_bytes(*f));
    }
    for (const Facts& f : out) {
      if (f.dtype != DType::kNone) moved += static_cast<double>(value_bytes(f));
    }
    double time = 1;
    if (!in.empty() && in[0] != nullptr && in[0]->rank() == 3) {
      const size_t axis = node.attr_int("layout", 0) == 1 ? 1 : 0;
      time = static_cast<double>(in[0]->shape[axis].value());
    }
    const bool both = node.attr_string("direction", "") == "bidirectional";
    const double jobs = jobs_of(node.op, both, time);
    step.ns = step_ns(step.info);
    step.share_within_ns = worth_sharing_within_ns(step.ns / jobs, moved / jobs);
  }

  /// References know the plain layout only.
  static Status check_plain(const Node& node, const Lowered& lowered,
                            const std::vector<const Facts*>& in, const std::vector<Facts>& out) {
    bool plain = true;
    for (const Facts* f : in) plain = plain && (f == nullptr || f->layout == Layout::kPlain);
    for (const Facts& f : out) plain = plain && f.layout == Layout::kPlain;
    if (plain) return {};
    return fail(Code::kInternal,
                "{}: no kernel takes its blocked operands ({}); disable_pass=place_layouts helps",
                node.label(),
                lowered.refused.empty() ? "none offered" : lowered.refused.back().reason);
  }

  void describe(Step& step, const Node& node, Lowered& lowered, const std::vector<const Facts*>& in,
                const std::vector<Facts>& out) {
    StepInfo& info = step.info;
    info.name = node.name.empty() && !node.outputs.empty() && node.outputs[0] != kNoValue
                    ? context_.graph->value(node.outputs[0]).name
                    : node.name;
    info.op = node.op;
    info.reference = lowered.kernel.empty();
    info.kernel = info.reference ? "reference" : lowered.kernel;
    info.flops = lowered.flops;
    for (Refusal& r : lowered.refused)
      info.refused.emplace_back(std::move(r.kernel), std::move(r.reason));
    for (const Facts& f : out) {
      info.outputs.push_back(f.dtype == DType::kNone ? "" : f.text());
      if (f.dtype != DType::kNone) info.bytes += static_cast<double>(value_bytes(f));
    }
    const double written = info.bytes;
    for (size_t i = 0; i < in.size(); ++i) {
      info.inputs.push_back(in[i] ? in[i]->text() : "");
      if (!in[i]) continue;
      const auto bytes = static_cast<double>(value_bytes(*in[i]));
      info.bytes += i == 0 ? first_input_bytes(node.op, bytes, written) : bytes;
    }
  }

  /// Values that something after this segment reads.
  std::set<ValueId> live_out() {
    std::set<ValueId> live(path_.root->outputs.begin(), path_.root->outputs.end());
    for (const Path::Frame& frame : path_.stack) {
      for (size_t i = frame.next; i < frame.block->nodes.size(); ++i) {
        for_each_use(frame.block->nodes[i], [&](ValueId id) { live.insert(id); });
      }
      live.insert(frame.block->outputs.begin(), frame.block->outputs.end());
    }
    return live;
  }

  bool own(const Place& p) const { return p.kind == Place::kArena && p.depth == segment_->depth; }

  void finish() {
    const int end = static_cast<int>(segment_->steps.size());
    std::vector<int> last(storages_.size());
    for (size_t i = 0; i < storages_.size(); ++i) last[i] = storages_[i].last;
    for (int i = 0; i < end; ++i) {
      for (const Place& p : segment_->steps[static_cast<size_t>(i)].in) {
        if (own(p)) last[static_cast<size_t>(p.offset)] = i;
      }
    }
    for (ValueId id : live_out()) {
      if (own(place(id))) last[static_cast<size_t>(place(id).offset)] = end;
    }
    // In-place: the output takes over the storage of an input that dies here.
    std::vector<int64_t> merged(storages_.size());
    for (size_t i = 0; i < merged.size(); ++i) merged[i] = static_cast<int64_t>(i);
    for (int i = 0; i < end; ++i) {
      Step& step = segment_->steps[static_cast<size_t>(i)];
      for (Place& p : step.in) {
        if (own(p)) p.offset = merged[static_cast<size_t>(p.offset)];
      }
      for (int k : in_place_[static_cast<size_t>(i)]) {
        const Place& from = step.in[static_cast<size_t>(k)];
        if (!own(from) || step.out.empty() || !own(step.out[0])) continue;
        const auto in_id = static_cast<size_t>(from.offset);
        const auto out_id = static_cast<size_t>(step.out[0].offset);
        if (last[in_id] != i || storages_[in_id].bytes != storages_[out_id].bytes) continue;
        if (read_otherwise(step, in_place_[static_cast<size_t>(i)], from)) continue;
        merged[out_id] = from.offset;
        last[in_id] = last[out_id];
        break;
      }
      for (Place& p : step.out) {
        if (own(p)) p.offset = merged[static_cast<size_t>(p.offset)];
      }
    }
    std::vector<bool> used(storages_.size(), false);
    for (size_t i = 0; i < storages_.size(); ++i) {
      storages_[i].last = last[i];
      used[static_cast<size_t>(merged[i])] = true;
    }
    for (Place& p : path_.places) {
      if (own(p)) p.offset = merged[static_cast<size_t>(p.offset)];
    }
    place_outputs(used);
    std::vector<Storage> kept = storages_;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (!used[i]) kept[i].bytes = 0;
    }
    segment_->arena_bytes = static_cast<size_t>(place_storages(kept));
    auto fix = [&](Place& p) {
      if (!own(p)) return;
      const auto id = static_cast<size_t>(p.offset);
      if (to_output_.count(id)) {
        p.kind = Place::kOutput;
        p.index = to_output_[id];
        p.offset = 0;
      } else {
        p.offset = kept[id].offset;
      }
    };
    for (Step& step : segment_->steps) {
      for (Place& p : step.in) fix(p);
      for (Place& p : step.out) fix(p);
      fix(step.scratch);
    }
    for (Place& p : path_.places) fix(p);
    for (OutputCopy& copy : segment_->copies) fix(copy.from);
    if (segment_->end != Segment::End::kDone) {
      path_.depth = segment_->depth + 1;
      segment_->path = std::make_unique<Path>(std::move(path_));
    }
  }

  /// Is the place also an operand that the kernel may still need once it has written over it? (A
  /// convolution whose residual is its own input.)
  static bool read_otherwise(const Step& step, const std::vector<int>& in_place, const Place& at) {
    for (size_t i = 0; i < step.in.size(); ++i) {
      const Place& p = step.in[i];
      const bool same = p.kind == at.kind && p.depth == at.depth && p.offset == at.offset;
      const bool listed =
          std::find(in_place.begin(), in_place.end(), static_cast<int>(i)) != in_place.end();
      if (same && !listed) return true;
    }
    return false;
  }

  /// Graph outputs made here are written straight into the caller's memory; others are copied when
  /// the graph is done.
  void place_outputs(std::vector<bool>& used) {
    const auto& outputs = path_.root->outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Place& p = place(outputs[i]);
      const Facts& f = facts(outputs[i]);
      const bool first_time = std::find(outputs.begin(), outputs.begin() + static_cast<long>(i),
                                        outputs[i]) == outputs.begin() + static_cast<long>(i);
      if (own(p) && first_time && !to_output_.count(static_cast<size_t>(p.offset)) &&
          storages_[static_cast<size_t>(p.offset)].bytes == static_cast<int64_t>(value_bytes(f))) {
        to_output_[static_cast<size_t>(p.offset)] = static_cast<int>(i);
        used[static_cast<size_t>(p.offset)] = false;
        segment_->outputs.push_back({static_cast<int>(i), f.dtype, to_dims(f.shape)});
      }
    }
    if (segment_->end != Segment::End::kDone) return;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Place& p = place(outputs[i]);
      const Facts& f = facts(outputs[i]);
      const bool here = p.kind == Place::kOutput && p.index == static_cast<int>(i);
      const bool now = own(p) && to_output_.count(static_cast<size_t>(p.offset)) &&
                       to_output_[static_cast<size_t>(p.offset)] == static_cast<int>(i);
      if (here || now) continue;
      segment_->outputs.push_back({static_cast<int>(i), f.dtype, to_dims(f.shape)});
      segment_->copies.push_back({p, static_cast<int>(i), value_bytes(f)});
    }
  }

  const PlanContext& context_;
  Path path_;
  std::shared_ptr<Segment> segment_;
  std::vector<Storage> storages_;
  std::vector<std::vector<int>> in_place_;  // by step
  std::map<size_t, int> to_output_;         // storage -> output position
};

std::string place_text(const Place& p) {
  switch (p.kind) {
    case Place::kArena:
      return fmt::format("@{}:{}", p.depth, p.offset);
    case Place::kConstant:
      return "const";
    case Place::kInput:
      return fmt::format("in{}", p.index);
    case Place::kOutput:
      return fmt::format("out{}", p.index);
    case Place::kHeap:
      return fmt::format("heap{}", p.index);
    default:
      return "-";
  }
}

}  // namespace

Path start_path(const PlanContext& context, const Block& block, std::span<const ValueId> ids,
                std::span<const Facts> inputs) {
  const Graph& graph = *context.graph;
  Path path;
  path.root = &block;
  path.facts.resize(graph.values.size());
  path.places.resize(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& v = graph.values[i];
    if (!v.is_constant()) continue;
    path.facts[i] = {v.dtype, true, v.shape, v.layout, v.constant, true};
    path.places[i].kind = Place::kConstant;
    path.places[i].data = v.constant.data();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto id = static_cast<size_t>(ids[i]);
    path.facts[id] = inputs[i];
    path.places[id] = {};
    path.places[id].kind = Place::kInput;
    path.places[id].index = static_cast<int>(i);
  }
  path.stack.push_back({&block, 0, nullptr});
  return path;
}

Result<std::shared_ptr<Segment>> build_segment(const PlanContext& context, Path path) {
  return Builder(context, std::move(path)).build();
}

std::string print_segment(const Segment& segment) {
  std::string text = fmt::format("segment {} arena {} bytes\n", segment.depth, segment.arena_bytes);
  for (size_t i = 0; i < segment.steps.size(); ++i) {
    const Step& step = segment.steps[i];
    std::string in, out;
    for (size_t k = 0; k < step.in.size(); ++k) {
      in += fmt::format("{}{} {}", k ? ", " : "", step.info.inputs[k], place_text(step.in[k]));
    }
    for (size_t k = 0; k < step.out.size(); ++k) {
      out += fmt::format("{}{} {}", k ? ", " : "", step.info.outputs[k], place_text(step.out[k]));
    }
    text += fmt::format("{:4} {} [{}] ({}) -> ({}) \"{}\"\n", i, step.info.op, step.info.kernel, in,
                        out, step.info.name);
  }
  for (const OutputCopy& copy : segment.copies) {
    text += fmt::format("     copy {} -> out{} {} bytes\n", place_text(copy.from), copy.output,
                        copy.bytes);
  }
  if (segment.end == Segment::End::kReadValues) {
    text += fmt::format("     then as the elements that {} needs say\n", segment.end_node->label());
  } else if (segment.end == Segment::End::kDynamic) {
    text +=
        fmt::format("     then {} {}, and as its output shapes say\n", segment.end_node->label(),
                    segment.end_node->blocks.empty() ? "by its reference" : "in a loop");
  }
  return text;
}

}  // namespace hasten
