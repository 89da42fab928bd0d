#include "engine/onnx/unsupported.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/onnx/names.h"
#include "engine/onnx/tensor.h"
#include "engine/ops/op.h"

namespace hasten::onnx {

namespace {

class Survey {
 public:
  explicit Survey(const ModelProto& model) {
    for (const FunctionProto& f : model.functions)
      functions_.emplace(function_key(f.domain, f.name, f.overload), &f);
    const Opsets opsets = this->opsets(model.opsets, "the model");
    graph(model.graph, opsets, "");
  }
  std::vector<Unsupported> take() { return std::move(found_); }

 private:
  using Opsets = std::map<std::string_view, int64_t>;

  void add(std::string what, std::string fix, const std::string& node = "") {
    Unsupported u;
    u.node = node;
    u.what = std::move(what);
    u.fix = std::move(fix);
    found_.push_back(std::move(u));
  }

  Opsets opsets(const OpsetIds& ids, std::string_view whose) {
    Opsets opsets;
    for (const auto& [domain, version] : ids) {
      const std::string_view plain = plain_domain(domain);
      if (plain.empty() && version > kLastOpset) {
        add(fmt::format("{} is of opset {}, the newest supported is {}", whose, version,
                        kLastOpset),
            fmt::format("export it with an opset of at most {}", kLastOpset));
      }
      opsets.emplace(plain, plain.empty() ? std::min<int64_t>(version, kLastOpset) : version);
    }
    return opsets;
  }

  void dtype(int32_t number, const std::string& what, const std::string& node = "") {
    if (auto known = decode_dtype(number); !known && known.error().code == Code::kUnsupported) {
      add(fmt::format("{}: {}", what, known.error().message),
          "convert it to float32, float16 or int8", node);
    }
  }

  void port(const ValueInfoProto& info, const char* kind) {
    using Kind = TypeProto::Kind;
    const std::string what = fmt::format("{} '{}'", kind, info.name);
    const TypeProto& type = info.type;
    if (type.kind == Kind::kMap || type.kind == Kind::kSparseTensor || type.kind == Kind::kOpaque) {
      add(fmt::format("{} is of type {}", what, type_kind_name(type.kind)),
          "only tensors, sequences and optional ones are supported: cut the model before it");
    } else if (type.elem_type != 0) {
      dtype(type.elem_type, what);
    }
  }

  void graph(const GraphProto& g, const Opsets& opsets, const std::string& prefix) {
    for (std::string_view name : g.sparse_initializers)
      add(fmt::format("initializer '{}' is sparse", name), "store it as a plain tensor");
    for (const TensorProto& t : g.initializers) {
      const std::string what = fmt::format("initializer '{}'", t.name);
      dtype(t.data_type, what);
      if (t.has_segment) add(what + ": it is in segments", "store it as a plain tensor");
    }
    for (const ValueInfoProto& info : g.inputs) port(info, "input");
    for (const ValueInfoProto& info : g.outputs) port(info, "output");
    for (const NodeProto& n : g.nodes) node(n, opsets, prefix);
  }

  void node(const NodeProto& p, const Opsets& opsets, const std::string& prefix) {
    const std::string name = prefix + name_of(p);
    const std::string_view domain = plain_domain(p.domain);
    for (const AttributeProto& a : p.attributes) {
      for (const GraphProto& g : a.g) graph(g, opsets, prefix);
    }
    if (auto fn = functions_.find(function_key(p.domain, p.op_type, p.overload));
        fn != functions_.end()) {
      if (!visited_.insert(fn->second).second) return;
      const FunctionProto& f = *fn->second;
      const Opsets inner = this->opsets(f.opsets, fmt::format("function '{}'", f.name));
      for (const NodeProto& n : f.nodes) node(n, inner, name + "/");
      return;
    }
    const auto version = opsets.find(domain);
    // No opset for the operators of ONNX, or none at all: the loader has more to say about that.
    if (version == opsets.end() ? domain.empty() : version->second < 1) return;
    Unsupported u;
    u.node = name;
    u.op = p.op_type;
    u.domain = domain;
    u.version = version == opsets.end() ? 0 : version->second;
    const size_t before = found_.size();
    if (domain.empty() && p.op_type == "Constant") {
      attributes(p, name);
    } else {
      explain(p, u);
      if (!u.what.empty()) {
        found_.push_back(std::move(u));
        return;
      }
      attributes(p, name);
    }
    for (size_t i = before; i < found_.size(); ++i) {
      found_[i].op = p.op_type;
      found_[i].domain = domain;
      found_[i].version = u.version;
    }
  }

  /// The node's operator, opset and names of attributes.
  static void explain(const NodeProto& p, Unsupported& u) {
    const std::string in_domain = u.domain.empty() ? "" : fmt::format(" of domain '{}'", u.domain);
    const OpDef* def = u.domain == "hasten" ? nullptr : find_op(u.domain, u.op, u.version);
    if (def != nullptr) {
      std::vector<std::string_view> names;
      for (const AttributeProto& a : p.attributes) {
        if (std::none_of(def->attrs.begin(), def->attrs.end(),
                         [&](const char* known) { return a.name == known; }))
          names.push_back(a.name);
      }
      if (names.empty()) return;
      u.what = fmt::format("attribute '{}' of operator {}{} (opset {}) is unknown",
                           fmt::join(names, "', '"), u.op, in_domain, u.version);
      u.fix = "remove the attribute from the node if it has no effect";
    } else if (u.domain != "hasten" && knows_op(u.domain, u.op)) {
      u.what =
          fmt::format("operator {}{} is not implemented for opset {}", u.op, in_domain, u.version);
      u.fix = fmt::format("convert the model to an opset of 13 to {} (onnx.version_converter)",
                          kLastOpset);
    } else {
      u.what = fmt::format("operator {}{} is unknown", u.op, in_domain);
      u.fix = kOtherEngine;
    }
  }

  /// What attributes of a known operator hold.
  void attributes(const NodeProto& p, const std::string& name) {
    for (const AttributeProto& a : p.attributes) {
      const std::string what = fmt::format("attribute '{}' of operator {}", a.name, p.op_type);
      for (const TensorProto& t : a.t) dtype(t.data_type, what, name);
      if (a.type == AttributeProto::kSparseTensor || a.type == AttributeProto::kSparseTensors)
        add(what + " is sparse", "store it as a plain tensor", name);
    }
  }

  std::map<FunctionKey, const FunctionProto*> functions_;
  std::set<const FunctionProto*> visited_;
  std::vector<Unsupported> found_;
};

}  // namespace

std::vector<Unsupported> find_unsupported(const ModelProto& model) { return Survey(model).take(); }

Status refuse(const std::vector<Unsupported>& list) {
  if (list.empty()) return {};
  // Each kind once, with the first node that has it.
  constexpr size_t kShown = 8;
  std::vector<std::string> kinds;
  std::string text;
  for (const Unsupported& u : list) {
    if (std::find(kinds.begin(), kinds.end(), u.what) != kinds.end()) continue;
    kinds.push_back(u.what);
    if (kinds.size() > kShown) continue;
    text += (text.empty() ? "" : "; ") + u.what;
    if (!u.node.empty()) text += fmt::format(" (node '{}')", u.node);
  }
  if (kinds.size() > kShown) text += fmt::format("; and {} more", kinds.size() - kShown);
  return fail(Code::kUnsupported, "{}: {}", text, list[0].fix);
}

}  // namespace hasten::onnx
