#include "engine/ops/op.h"

#include <algorithm>
#include <map>

#include "engine/ops/packed.h"

namespace hasten {

#define HASTEN_OPS(file) std::vector<OpDef> ops_##file();
#include "engine/ops/ops.inc"
#undef HASTEN_OPS

namespace {

struct Table {
  std::vector<std::vector<OpDef>> files;
  std::vector<const OpDef*> rows;
  std::multimap<std::pair<std::string_view, std::string_view>, const OpDef*> by_name;

  Table() {
#define HASTEN_OPS(file) files.push_back(ops_##file());
#include "engine/ops/ops.inc"
#undef HASTEN_OPS
    for (const auto& file : files) {
      for (const OpDef& def : file) {
        rows.push_back(&def);
        by_name.emplace(std::pair<std::string_view, std::string_view>(def.domain, def.name), &def);
      }
    }
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

const Facts kAbsentFacts;
const TensorView kAbsentView;

}  // namespace

const OpDef* find_op(std::string_view domain, std::string_view name, int64_t version) {
  auto [first, last] = table().by_name.equal_range({domain, name});
  for (auto it = first; it != last; ++it) {
    if (version >= it->second->since && version <= it->second->until) return it->second;
  }
  return nullptr;
}

bool knows_op(std::string_view domain, std::string_view name) {
  return table().by_name.count({domain, name}) > 0;
}

std::span<const OpDef* const> all_ops() { return table().rows; }

std::string Facts::text() const {
  const std::string of = element == DType::kNone ? "" : fmt::format("({})", dtype_name(element));
  return fmt::format("{}{}{}{}", dtype_name(dtype), of, has_shape ? shape_text(shape) : "[...]",
                     layout == Layout::kPlain ? "" : std::string(" ") + layout_name(layout));
}

const Facts& InferContext::in(size_t i) const {
  return i < in_.size() && in_[i] != nullptr ? *in_[i] : kAbsentFacts;
}

void InferContext::set(size_t i, DType dtype, Shape shape) {
  if (i >= out_.size()) return;
  out_[i].dtype = dtype;
  out_[i].has_shape = true;
  out_[i].shape = std::move(shape);
}

void InferContext::set_unknown(size_t i, DType dtype) {
  if (i >= out_.size()) return;
  out_[i].dtype = dtype;
  out_[i].has_shape = false;
  out_[i].shape.clear();
}

const TensorView& RefContext::in(size_t i) const { return i < in_.size() ? in_[i] : kAbsentView; }

const Facts& LowerContext::in(size_t i) const {
  return i < in_.size() && in_[i] != nullptr ? *in_[i] : kAbsentFacts;
}

bool makes_no_elements(const Node& node, std::span<const Facts> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    const Facts& f = out[i];
    if (holds_objects(f.dtype) || !f.known_shape()) return false;
    if (std::find(f.shape.begin(), f.shape.end(), Dim(0)) == f.shape.end()) return false;
  }
  return true;
}

Result<std::vector<Tensor>> make_outputs(const Node& node, std::span<const Facts> out) {
  std::vector<Tensor> tensors(out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    HASTEN_TRY(tensors[i], Tensor::make(out[i].dtype, to_dims(out[i].shape)));
  }
  return tensors;
}

Status lower_node(LowerContext& c) {
  if (makes_no_elements(c.node(), c.out())) {
    c.take("nothing", [](const StepArgs&) {});
    return {};
  }
  return c.node().def->lower == nullptr ? Status() : c.node().def->lower(c);
}

Status check_fault(const Node& node, const std::atomic<int64_t>& fault) {
  const int64_t position = fault.load(std::memory_order_relaxed);
  if (position == 0) return {};
  return hasten::fail(Code::kInvalidArgument,
                      "{}: element {} of its operand can't be used: an index out of range or a "
                      "division by zero",
                      node.label(), position - 1);
}

Result<const void*> LowerContext::packed(size_t input, const std::string& format, size_t bytes,
                                         const std::function<void(void*)>& fill) {
  PackedStore& store = in(input).constant ? packed_ : local_;
  return store.get(node().input(input), format, bytes, fill);
}

}  // namespace hasten
