#include "engine/onnx/build.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "engine/onnx/attributes.h"
#include "engine/onnx/names.h"
#include "engine/ops/bind.h"

namespace hasten::onnx {

namespace {

constexpr size_t kMaxGraphBytes = size_t{64} << 20;
constexpr size_t kMaxPrefix = 200;

Error within(const std::string& place, Error error) {
  error.message = fmt::format("{}: {}", place, error.message);
  return error;
}

/// The names of one graph or function body. Inner names hide outer ones.
struct Scope {
  Scope* outer = nullptr;
  std::unordered_map<std::string_view, ValueId> names;
  std::unordered_map<std::string_view, Tensor> initializers;  // not used by anything yet
  std::unordered_map<std::string_view, const TypeProto*> types;
  std::unordered_map<std::string_view, ValueId> results;  // of a function: the caller's values
};

/// Where nodes come from: the model itself or a call of a function.
struct Frame {
  const std::map<std::string_view, int64_t>* opsets;
  std::unordered_map<std::string_view, const AttributeProto*> bindings;  // arguments of the call
  bool is_function = false;
  int calls = 0;
  std::string prefix;  // of names
};

class Builder {
 public:
  Builder(const ModelProto& model, const LoadOptions& options, std::shared_ptr<const void> owner,
          ExternalFiles& external)
      : model_(model), options_(options), owner_(std::move(owner)), external_(external) {}

  Result<Graph> build() {
    HASTEN_TRY(const auto opsets, read_opsets(model_.opsets, "the model"));
    for (const FunctionProto& f : model_.functions) {
      if (!functions_.emplace(function_key(f.domain, f.name, f.overload), &f).second) {
        return fail(Code::kInvalidModel, "function '{}' of domain '{}' is defined twice", f.name,
                    f.domain);
      }
    }
    graph_.name = model_.graph.name;
    graph_.ir_version = model_.ir_version;
    for (const auto& [domain, version] : opsets) graph_.opsets[std::string(domain)] = version;
    for (const auto& [name, value] : model_.metadata) graph_.metadata[std::string(name)] = value;
    Frame frame;
    frame.opsets = &opsets;
    HASTEN_TRY(graph_.main, block(model_.graph, nullptr, frame, true));
    HASTEN_CHECK(override_shapes());
    HASTEN_CHECK(verify(graph_));
    return std::move(graph_);
  }

 private:
  static Result<std::map<std::string_view, int64_t>> read_opsets(const OpsetIds& ids,
                                                                 std::string_view whose) {
    std::map<std::string_view, int64_t> opsets;
    for (const auto& [domain, version] : ids) {
      if (version < 1) {
        return fail(Code::kInvalidModel, "{} imports opset {} of domain '{}'", whose, version,
                    domain);
      }
      const std::string_view plain = plain_domain(domain);
      if (plain.empty() && version > kLastOpset) {
        return fail(Code::kUnsupported,
                    "{} is of opset {}, the newest supported is {}: export it with an opset of at "
                    "most {}",
                    whose, version, kLastOpset, kLastOpset);
      }
      auto [it, is_new] = opsets.emplace(plain, version);
      if (!is_new && it->second != version) {
        return fail(Code::kInvalidModel, "{} imports domain '{}' as opset {} and as opset {}",
                    whose, domain, it->second, version);
      }
    }
    return opsets;
  }

  // ---- values ----

  Status apply_type(Value& value, const TypeProto& type, bool is_port) {
    using Kind = TypeProto::Kind;
    if (type.kind == Kind::kSequence || type.kind == Kind::kOptional) {
      value.dtype = type.kind == Kind::kSequence ? DType::kSequence : DType::kOptional;
      value.has_shape = true;
      value.shape = {Dim::fresh()};
      if (type.held == Kind::kSequence) value.element = DType::kSequence;
      if (type.held == Kind::kTensor && type.elem_type != 0) {
        auto element = decode_dtype(type.elem_type);
        if (!element) {
          return fail(within(fmt::format("'{}'", value.name), std::move(element.error())));
        }
        value.element = *element;
      }
      return {};
    }
    if (type.kind != Kind::kTensor) {
      if (!is_port || type.kind == Kind::kNone) return {};
      return fail(Code::kUnsupported,
                  "'{}' is of type {}: only tensors, sequences and optional ones are supported",
                  value.name, type_kind_name(type.kind));
    }
    if (type.elem_type != 0 && (is_port || dtype_supported(type.elem_type))) {
      auto dtype = decode_dtype(type.elem_type);
      if (!dtype) return fail(within(fmt::format("'{}'", value.name), std::move(dtype.error())));
      value.dtype = *dtype;
    }
    value.has_shape = type.has_shape;
    Dims known;
    for (const TypeProto::Dim& d : type.dims) {
      // Some exporters write -1 (PaddlePaddle) or the name "?" for "unknown".
      if (d.value && *d.value >= 0) {
        value.shape.emplace_back(*d.value);
        known.push_back(*d.value);
      } else if (d.value || d.param.empty() || d.param[0] == '?' || d.param == "-1") {
        value.shape.push_back(Dim::fresh());
      } else {
        value.shape.push_back(Dim::symbol(std::string(d.param)));
      }
    }
    auto count = checked_count(known);
    if (!count) return fail(within(fmt::format("'{}'", value.name), std::move(count.error())));
    return {};
  }

  /// A new value of that name; an error if the scope has one.
  Result<ValueId> declare(Scope& scope, const Frame& frame, std::string_view name,
                          const TypeProto* type, bool is_port) {
    if (scope.names.count(name) > 0 || scope.initializers.count(name) > 0) {
      return fail(Code::kInvalidModel, "the name '{}' is taken by another value", name);
    }
    if (auto it = scope.results.find(name); it != scope.results.end()) {
      scope.names.emplace(name, it->second);
      return it->second;
    }
    Value value;
    value.name = frame.prefix + std::string(name);
    if (type != nullptr) HASTEN_CHECK(apply_type(value, *type, is_port));
    if (graph_.values.size() >= max_values()) {
      return fail(Code::kUnsupported, "more than {} values", max_values());
    }
    HASTEN_CHECK(charge(value.name.size() + value.shape.size() * sizeof(Dim)));
    const ValueId id = graph_.add_value(std::move(value));
    scope.names.emplace(name, id);
    return id;
  }

  /// What the graph takes besides weights and the nodes themselves; functions that are called often
  /// could multiply it.
  Status charge(size_t bytes) {
    charged_ += bytes;
    if (charged_ <= kMaxGraphBytes) return {};
    return fail(Code::kUnsupported, "names and attributes take more than {} bytes", kMaxGraphBytes);
  }

  size_t max_values() const {
    constexpr size_t kPerNode = 8;
    return options_.limits.nodes > 0 ? static_cast<size_t>(options_.limits.nodes) * kPerNode
                                     : INT32_MAX;
  }

  /// The value of that name in the nearest scope that has it.
  std::optional<ValueId> resolve(Scope& scope, std::string_view name) {
    for (Scope* s = &scope; s != nullptr; s = s->outer) {
      if (auto it = s->names.find(name); it != s->names.end()) return it->second;
      if (auto it = s->initializers.find(name); it != s->initializers.end()) {
        const ValueId id = graph_.add_constant(std::string(name), std::move(it->second));
        s->initializers.erase(it);
        s->names.emplace(name, id);
        return id;
      }
    }
    return std::nullopt;
  }
  static tl::unexpected<Error> nothing_makes(const std::string& what, std::string_view name) {
    return fail(Code::kInvalidModel,
                "{} '{}' is made by nothing: no input, initializer or node has that name", what,
                name);
  }

  Result<Tensor> tensor(const TensorProto& proto) {
    if (auto it = decoded_.find(&proto); it != decoded_.end()) return it->second;
    HASTEN_CHECK(options_.clock.check());
    if (options_.limits.bytes > 0 && dtype_supported(proto.data_type)) {
      HASTEN_TRY(const int64_t count, checked_count(proto.dims));
      const auto element = static_cast<int64_t>(dtype_size(static_cast<DType>(proto.data_type)));
      if (count > (options_.limits.bytes - bytes_) / element) {
        return fail(Code::kOutOfMemory,
                    "the weights need more than the limit of {} bytes (see --max-weight-bytes)",
                    options_.limits.bytes);
      }
      bytes_ += count * element;
    }
    HASTEN_TRY(Tensor decoded, decode_tensor(proto, owner_, external_));
    decoded_.emplace(&proto, decoded);
    return decoded;
  }

  // ---- graphs ----

  Result<Block> block(const GraphProto& g, Scope* outer, const Frame& frame, bool is_main) {
    Scope scope;
    scope.outer = outer;
    Block block;
    if (!g.sparse_initializers.empty()) {
      return fail(Code::kUnsupported, "initializer '{}' is sparse, which is not supported",
                  g.sparse_initializers[0]);
    }
    for (const TensorProto& t : g.initializers) {
      const std::string what = fmt::format("initializer '{}'", t.name);
      if (t.name.empty()) return fail(Code::kInvalidModel, "an initializer without a name");
      auto decoded = tensor(t);
      if (!decoded) return fail(within(what, std::move(decoded.error())));
      if (!scope.initializers.emplace(t.name, std::move(*decoded)).second) {
        return fail(Code::kInvalidModel, "{} is there twice", what);
      }
    }
    for (const ValueInfoProto& info : g.inputs) {
      const std::string what = fmt::format("input '{}'", info.name);
      if (info.name.empty()) return fail(Code::kInvalidModel, "an input without a name");
      if (scope.initializers.count(info.name) > 0 && is_main)
        continue;  // a constant: see numerics.md
      if (scope.initializers.count(info.name) > 0) {
        return fail(Code::kInvalidModel, "{} of a subgraph is also an initializer", what);
      }
      auto id = declare(scope, frame, info.name, &info.type, true);
      if (!id) return fail(within(what, std::move(id.error())));
      if (is_main && graph_.value(*id).dtype == DType::kNone) {
        return fail(Code::kInvalidModel, "{} has no data type", what);
      }
      block.inputs.push_back(*id);
    }
    for (const ValueInfoProto& info : g.value_infos) scope.types.emplace(info.name, &info.type);
    for (const ValueInfoProto& info : g.outputs) scope.types[info.name] = &info.type;
    HASTEN_CHECK(nodes(g.nodes, scope, frame, block));
    std::set<ValueId> listed;
    for (const ValueInfoProto& info : g.outputs) {
      const std::string what = fmt::format("output '{}'", info.name);
      if (info.name.empty()) return fail(Code::kInvalidModel, "an output without a name");
      const auto id = resolve(scope, info.name);
      if (!id) return nothing_makes("output", info.name);
      if (is_main && !listed.insert(*id).second) {
        return fail(Code::kInvalidModel, "{} is listed twice", what);
      }
      // Refuses types that can't be ports; the value itself knows better already.
      Value declared;
      declared.name = info.name;
      HASTEN_CHECK(apply_type(declared, info.type, true));
      block.outputs.push_back(*id);
    }
    if (is_main && block.outputs.empty())
      return fail(Code::kInvalidModel, "the graph has no outputs");
    HASTEN_CHECK(sort_topologically(block));
    return block;
  }

  Status nodes(const std::vector<NodeProto>& protos, Scope& scope, const Frame& frame,
               Block& block) {
    made_ += static_cast<int64_t>(protos.size());
    if (made_ > options_.limits.nodes && options_.limits.nodes > 0) {
      return fail(Code::kUnsupported,
                  "once functions are inlined the model has more nodes than the limit of {} (see "
                  "--max-nodes)",
                  options_.limits.nodes);
    }
    HASTEN_CHECK(options_.clock.check());
    // All names first: nodes need not be sorted.
    for (const NodeProto& p : protos) {
      for (std::string_view name : p.outputs) {
        if (name.empty()) continue;
        auto type = scope.types.find(name);
        auto id =
            declare(scope, frame, name, type == scope.types.end() ? nullptr : type->second, false);
        if (!id) {
          return fail(
              within(fmt::format("{}: output '{}'", label_of(p), name), std::move(id.error())));
        }
      }
      if (is_constant(p)) {
        if (auto done = constant(p, scope, frame); !done) {
          return fail(within(label_of(p), std::move(done.error())));
        }
      }
    }
    for (const NodeProto& p : protos) {
      if (!is_constant(p)) HASTEN_CHECK(node(p, scope, frame, block));
    }
    return {};
  }

  static std::string label_of(const NodeProto& p) {
    Node node;
    node.name = name_of(p);
    node.op = p.op_type;
    return node.label();
  }

  // ---- nodes ----

  bool is_constant(const NodeProto& p) const {
    return p.op_type == "Constant" && plain_domain(p.domain).empty();
  }

  /// The attribute itself, or what a function's caller gave for it; null: nothing, leave it out.
  Result<const AttributeProto*> bound(const AttributeProto& a, const Frame& frame) {
    if (a.ref_attr_name.empty()) return &a;
    if (!frame.is_function) {
      return fail(Code::kInvalidModel,
                  "attribute '{}' refers to '{}' of a function, outside of any", a.name,
                  a.ref_attr_name);
    }
    auto it = frame.bindings.find(a.ref_attr_name);
    const AttributeProto* found = it == frame.bindings.end() ? nullptr : it->second;
    if (found && !found->g.empty()) {
      return fail(Code::kUnsupported, "attribute '{}': a graph as argument of a function", a.name);
    }
    return found;
  }

  Status constant(const NodeProto& p, Scope& scope, const Frame& frame) {
    if (!p.inputs.empty() || p.outputs.size() != 1 || p.outputs[0].empty()) {
      return fail(Code::kInvalidModel, "has {} inputs and {} outputs, it must have 0 and 1",
                  p.inputs.size(), p.outputs.size());
    }
    const AttributeProto* found = nullptr;
    std::string_view name;
    for (const AttributeProto& a : p.attributes) {
      HASTEN_TRY(const AttributeProto* value, bound(a, frame));
      if (value == nullptr) continue;
      if (found) {
        return fail(Code::kInvalidModel, "has both attributes '{}' and '{}'", name, a.name);
      }
      found = value;
      name = a.name;
    }
    if (found == nullptr) return fail(Code::kInvalidModel, "has no value");
    if (name == "sparse_value") {
      return fail(Code::kUnsupported, "a sparse constant, which is not supported");
    }
    HASTEN_TRY(const AttributeProto::Type type, attribute_type(*found));
    if (name.substr(0, 5) != "value" ||
        expected_type("Constant", 13, name) == AttributeProto::kUndefined) {
      return fail(Code::kUnsupported, "unknown attribute '{}'", name);
    }
    if (type != expected_type("Constant", 13, name)) {
      return fail(Code::kInvalidModel, "attribute '{}' is of type {}, it must be of type {}", name,
                  attribute_type_name(type),
                  attribute_type_name(expected_type("Constant", 13, name)));
    }
    HASTEN_TRY(Tensor value, constant_value(*found, type));
    Value& v = graph_.value(scope.names.at(p.outputs[0]));
    if (v.dtype != DType::kNone && v.dtype != value.dtype()) {
      return fail(Code::kInvalidModel, "its value is {}, but is declared as {}",
                  dtype_name(value.dtype()), dtype_name(v.dtype));
    }
    v.dtype = value.dtype();
    v.has_shape = true;
    v.shape = to_shape(value.dims());
    v.constant = std::move(value);
    return {};
  }

  Result<Tensor> constant_value(const AttributeProto& a, AttributeProto::Type type) {
    auto text = [](Bytes b) {
      return std::string(reinterpret_cast<const char*>(b.data()), b.size());
    };
    const auto n = [](const auto& list) { return Dims{static_cast<int64_t>(list.size())}; };
    switch (type) {
      case AttributeProto::kInt:
        return Tensor::ints({}, {&a.i, 1});
      case AttributeProto::kFloat:
        return Tensor::floats({}, {&a.f, 1});
      case AttributeProto::kInts:
        return Tensor::ints(n(a.ints), a.ints);
      case AttributeProto::kFloats:
        return Tensor::floats(n(a.floats), a.floats);
      case AttributeProto::kString: {
        HASTEN_TRY(Tensor t, Tensor::make(DType::kString, {}));
        *t.mutable_as<std::string>() = text(a.s);
        return t;
      }
      case AttributeProto::kStrings: {
        HASTEN_TRY(Tensor t, Tensor::make(DType::kString, n(a.strings)));
        std::transform(a.strings.begin(), a.strings.end(), t.mutable_as<std::string>(), text);
        return t;
      }
      default:
        if (a.t.empty()) return fail(Code::kInvalidModel, "attribute '{}' has no tensor", a.name);
        return tensor(a.t[0]);
    }
  }

  Status node(const NodeProto& p, Scope& scope, const Frame& frame, Block& block) {
    Node node;
    node.name = name_of(p);
    node.op = p.op_type;
    node.domain = plain_domain(p.domain);
    if (auto fn = functions_.find(function_key(p.domain, p.op_type, p.overload));
        fn != functions_.end()) {
      auto done = call(*fn->second, p, scope, frame, block);
      return done ? Status() : fail(within(node.label(), std::move(done.error())));
    }
    if (!frame.prefix.empty()) node.name = frame.prefix + node.name;
    if (auto it = frame.opsets->find(plain_domain(p.domain)); it != frame.opsets->end()) {
      node.version = it->second;
    } else if (node.domain.empty()) {
      return fail(Code::kInvalidModel, "{}: no opset is imported for the operators of ONNX",
                  node.label());
    }
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      if (p.inputs[i].empty()) {
        node.inputs.push_back(kNoValue);
        continue;
      }
      const auto id = resolve(scope, p.inputs[i]);
      if (!id) return nothing_makes(fmt::format("{}: input {}", node.label(), i), p.inputs[i]);
      node.inputs.push_back(*id);
    }
    for (std::string_view name : p.outputs) {
      node.outputs.push_back(name.empty() ? kNoValue : scope.names.at(name));
    }
    // Absent at the end is the same as not there.
    while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
    while (!node.outputs.empty() && node.outputs.back() == kNoValue) node.outputs.pop_back();
    HASTEN_CHECK(charge(node.name.size() + p.inputs.size() * sizeof(ValueId)));
    if (auto done = attributes(p, scope, frame, node); !done) {
      return fail(within(node.label(), std::move(done.error())));
    }
    HASTEN_CHECK(bind_node(node));
    // What passes make is no business of files.
    if (node.domain == "hasten") node.def = nullptr;
    block.nodes.push_back(std::move(node));
    return {};
  }

  Status attributes(const NodeProto& p, Scope& scope, const Frame& frame, Node& node) {
    const bool known = find_op(node.domain, node.op, node.version) != nullptr;
    std::set<std::string_view> seen;
    for (const AttributeProto& a : p.attributes) {
      if (!seen.insert(a.name).second) {
        return fail(Code::kInvalidModel, "attribute '{}' is there twice", a.name);
      }
      HASTEN_TRY(const AttributeProto* value, bound(a, frame));
      if (value == nullptr) continue;
      HASTEN_TRY(const AttributeProto::Type type, attribute_type(*value));
      const auto expected = node.domain.empty() ? expected_type(node.op, node.version, a.name)
                                                : AttributeProto::kUndefined;
      if (expected != AttributeProto::kUndefined && type != expected) {
        return fail(Code::kInvalidModel, "attribute '{}' is of type {}, it must be of type {}",
                    a.name, attribute_type_name(type), attribute_type_name(expected));
      }
      if (type == AttributeProto::kGraph) {
        if (value->g.empty())
          return fail(Code::kInvalidModel, "attribute '{}' has no graph", a.name);
        HASTEN_TRY(Block inner, block(value->g[0], &scope, frame, false));
        node.blocks.push_back({std::string(a.name), std::move(inner)});
        continue;
      }
      HASTEN_CHECK(charge(attribute_bytes(*value)));
      auto attr = attribute(*value, type);
      if (!attr && !known && attr.error().code == Code::kUnsupported)
        continue;  // its node is anyway
      if (!attr) return fail(std::move(attr.error()));
      node.attrs.emplace_back(std::string(a.name), std::move(*attr));
    }
    return {};
  }

  Result<Attr> attribute(const AttributeProto& a, AttributeProto::Type type) {
    if (type != AttributeProto::kTensor) return decode_attribute(a, type);
    if (a.t.empty()) return fail(Code::kInvalidModel, "attribute '{}' has no tensor", a.name);
    auto decoded = tensor(a.t[0]);
    if (!decoded) {
      return fail(within(fmt::format("attribute '{}'", a.name), std::move(decoded.error())));
    }
    return Attr(std::move(*decoded));
  }

  // ---- local functions ----

  /// Puts the nodes of a function in the place of a call.
  Status call(const FunctionProto& fn, const NodeProto& p, Scope& scope, const Frame& frame,
              Block& block) {
    if (frame.calls >= options_.max_depth) {
      return fail(Code::kInvalidModel, "functions call each other more than {} deep (or for ever)",
                  options_.max_depth);
    }
    if (p.inputs.size() > fn.inputs.size() || p.outputs.size() > fn.outputs.size()) {
      return fail(Code::kInvalidModel, "has {} inputs and {} outputs, the function has {} and {}",
                  p.inputs.size(), p.outputs.size(), fn.inputs.size(), fn.outputs.size());
    }
    HASTEN_TRY(const auto opsets, read_opsets(fn.opsets, fmt::format("function '{}'", fn.name)));
    Frame inner;
    inner.opsets = &opsets;
    inner.is_function = true;
    inner.calls = frame.calls + 1;
    inner.prefix = frame.prefix + name_of(p) + "/";
    if (inner.prefix.size() > kMaxPrefix) inner.prefix = frame.prefix;
    HASTEN_CHECK(bind_arguments(fn, p, frame, inner));
    Scope body;
    for (size_t i = 0; i < fn.inputs.size(); ++i) {
      ValueId id = kNoValue;
      if (i < p.inputs.size() && !p.inputs[i].empty()) {
        const auto found = resolve(scope, p.inputs[i]);
        if (!found) return nothing_makes(fmt::format("input {}", i), p.inputs[i]);
        id = *found;
      }
      if (!body.names.emplace(fn.inputs[i], id).second) {
        return fail(Code::kInvalidModel, "the function has two inputs '{}'", fn.inputs[i]);
      }
    }
    for (size_t i = 0; i < p.outputs.size(); ++i) {
      if (p.outputs[i].empty()) continue;
      const ValueId id = scope.names.at(p.outputs[i]);
      if (auto same = body.names.find(fn.outputs[i]); same != body.names.end()) {
        // The function returns its input as it is.
        Node identity;
        identity.name = inner.prefix + std::string(fn.outputs[i]);
        identity.op = "Identity";
        identity.version = opsets.count("") ? opsets.at("") : kLastOpset;
        identity.inputs = {same->second};
        identity.outputs = {id};
        HASTEN_CHECK(bind_node(identity));
        block.nodes.push_back(std::move(identity));
      } else if (!body.results.emplace(fn.outputs[i], id).second) {
        return fail(Code::kInvalidModel, "the function has two outputs '{}'", fn.outputs[i]);
      }
    }
    HASTEN_CHECK(nodes(fn.nodes, body, inner, block));
    for (const auto& [name, id] : body.results) {
      if (body.names.count(name) == 0) {
        return fail(Code::kInvalidModel, "nothing in the function makes its output '{}'", name);
      }
    }
    return {};
  }

  Status bind_arguments(const FunctionProto& fn, const NodeProto& p, const Frame& frame,
                        Frame& inner) {
    for (const AttributeProto& a : fn.defaults) inner.bindings[a.name] = &a;
    for (const AttributeProto& a : p.attributes) {
      const bool listed =
          inner.bindings.count(a.name) > 0 ||
          std::find(fn.attributes.begin(), fn.attributes.end(), a.name) != fn.attributes.end();
      if (!listed) {
        return fail(Code::kUnsupported, "attribute '{}' is unknown to the function", a.name);
      }
      HASTEN_TRY(const AttributeProto* value, bound(a, frame));
      if (value != nullptr) inner.bindings[a.name] = value;
    }
    return {};
  }

  // ---- overrides ----

  Status override_shapes() {
    std::map<int64_t, Dim> numbers;  // symbol -> what an override made of it
    for (const auto& given : options_.shapes) {
      const std::string& name = given.first;
      const Shape& shape = given.second;
      auto it = std::find_if(graph_.main.inputs.begin(), graph_.main.inputs.end(),
                             [&](ValueId id) { return graph_.value(id).name == name; });
      if (it == graph_.main.inputs.end()) {
        std::string inputs;
        for (ValueId id : graph_.main.inputs) {
          inputs += fmt::format("{}'{}'", inputs.empty() ? "" : ", ", graph_.value(id).name);
        }
        return fail(Code::kInvalidArgument, "a shape is given for '{}', the model's inputs are: {}",
                    name, inputs.empty() ? "none" : inputs);
      }
      Value& value = graph_.value(*it);
      if (value.has_shape && value.shape.size() != shape.size()) {
        return fail(Code::kInvalidArgument,
                    "a shape of rank {} is given for input '{}', which has rank {}: {}",
                    shape.size(), name, value.shape.size(), shape_text(value.shape));
      }
      for (size_t i = 0; i < value.shape.size(); ++i) {
        if (!value.shape[i].known()) numbers.emplace(value.shape[i].code(), shape[i]);
      }
      value.has_shape = true;
      value.shape = shape;
    }
    if (numbers.empty()) return {};
    for (Value& value : graph_.values) {
      if (options_.shapes.count(value.name) > 0) continue;
      for (Dim& d : value.shape) {
        auto it = d.known() ? numbers.end() : numbers.find(d.code());
        if (it != numbers.end()) d = it->second;
      }
    }
    return {};
  }

  const ModelProto& model_;
  const LoadOptions& options_;
  std::shared_ptr<const void> owner_;
  ExternalFiles& external_;
  std::map<FunctionKey, const FunctionProto*> functions_;
  std::unordered_map<const TensorProto*, Tensor> decoded_;  // functions may be called often
  Graph graph_;
  int64_t made_ = 0, bytes_ = 0;
  size_t charged_ = 0;
};

}  // namespace

Result<Graph> build_graph(const ModelProto& model, const LoadOptions& options,
                          const std::shared_ptr<const void>& owner, ExternalFiles& external) {
  return Builder(model, options, owner, external).build();
}

}  // namespace hasten::onnx
