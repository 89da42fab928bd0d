#include "engine/ir/text.h"

#include <xxhash.h>
#include <cmath>

#include <map>
#include <unordered_map>

#include "engine/ir/half.h"

namespace hasten {

namespace {

bool is_plain(std::string_view name, std::string_view extra) {
  if (name.empty()) return false;
  for (char c : name) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || extra.find(c) != extra.npos;
    if (!word) return false;
  }
  return true;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (u < 0x20 || u >= 0x7f) {
      out += fmt::format("\\x{:02x}", u);
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// The shortest digits that parse to the same value; other bits of a NaN in hex.
template <class F, class U>
std::string float_text(F value, U bits, U default_nan) {
  if (std::isnan(value)) {
    return bits == default_nan ? std::string("nan") : fmt::format("nan({:#x})", bits);
  }
  return fmt::format("{}", value);
}

std::string element_text(const TensorView& t, int64_t i) {
  switch (t.dtype) {
    case DType::kF32: {
      const float x = t.as<float>()[i];
      return float_text(x, std::bit_cast<uint32_t>(x), 0x7fc00000u);
    }
    case DType::kF64: {
      const double x = t.as<double>()[i];
      return float_text(x, std::bit_cast<uint64_t>(x), uint64_t{0x7ff8000000000000});
    }
    case DType::kF16:
      return float_text(to_float(t.as<Half>()[i]), t.as<uint16_t>()[i], uint16_t{0x7e00});
    case DType::kBF16:
      return float_text(to_float(t.as<BFloat16>()[i]), t.as<uint16_t>()[i], uint16_t{0x7fc0});
    case DType::kI8:
      return fmt::format("{}", int{t.as<int8_t>()[i]});
    case DType::kU8:
      return fmt::format("{}", int{t.as<uint8_t>()[i]});
    case DType::kI16:
      return fmt::format("{}", t.as<int16_t>()[i]);
    case DType::kU16:
      return fmt::format("{}", t.as<uint16_t>()[i]);
    case DType::kI32:
      return fmt::format("{}", t.as<int32_t>()[i]);
    case DType::kU32:
      return fmt::format("{}", t.as<uint32_t>()[i]);
    case DType::kI64:
      return fmt::format("{}", t.as<int64_t>()[i]);
    case DType::kU64:
      return fmt::format("{}", t.as<uint64_t>()[i]);
    case DType::kBool:
      return t.as<uint8_t>()[i] ? "true" : "false";
    case DType::kString:
      return quoted(t.as<std::string>()[i]);
    case DType::kNone:
    case DType::kSequence:
    case DType::kOptional:
      break;
  }
  return "?";
}

/// A float attribute: unlike an int it always has a point, an exponent or letters.
std::string float_attr(float x) {
  std::string text = float_text(x, std::bit_cast<uint32_t>(x), 0x7fc00000u);
  if (text.find_first_of(".einf") == text.npos) text += ".0";
  return text;
}

class Printer {
 public:
  Printer(const Graph& graph, int64_t inline_limit)
      : graph_(graph), inline_limit_(inline_limit), uses_(count_uses(graph)) {}

  std::string print() {
    out_ += fmt::format("graph {} opset {{", quoted(graph_.name));
    bool first = true;
    for (const auto& [domain, version] : graph_.opsets) {
      out_ += fmt::format("{}{}: {}", first ? "" : ", ", quoted(domain), version);
      first = false;
    }
    out_ += '}';
    if (graph_.ir_version != 0) out_ += fmt::format(" ir {}", graph_.ir_version);
    out_ += '\n';
    for (const auto& [key, value] : graph_.metadata) {
      out_ += fmt::format("meta {} = {}\n", quoted(key), quoted(value));
    }
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const Value& v = graph_.values[i];
      if (!v.is_constant() || uses_[i] == 0) continue;
      out_ += fmt::format("const {} = {}\n", typed(static_cast<ValueId>(i)), elements(v.constant));
    }
    block(graph_.main, "");
    return std::move(out_);
  }

 private:
  void block(const Block& block, const std::string& indent) {
    for (ValueId id : block.inputs) {
      // The constant of an input (its default) has been printed already.
      out_ +=
          fmt::format("{}in {}\n", indent, graph_.value(id).is_constant() ? ref(id) : typed(id));
    }
    for (const Node& n : block.nodes) node(n, indent);
    out_ += indent + "out";
    for (size_t i = 0; i < block.outputs.size(); ++i) {
      out_ += fmt::format("{}{}", i ? ", " : " ", ref(block.outputs[i]));
    }
    out_ += '\n';
  }

  void node(const Node& n, const std::string& indent) {
    out_ += indent;
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      out_ +=
          fmt::format("{}{}", i ? ", " : "", n.outputs[i] == kNoValue ? "_" : typed(n.outputs[i]));
    }
    out_ += n.outputs.empty() ? "= " : " = ";
    if (!n.domain.empty()) out_ += word(n.domain, ".-") + "::";
    out_ += word(n.op, "");
    const auto opset = graph_.opsets.find(n.domain);
    if (n.version != (opset == graph_.opsets.end() ? 0 : opset->second)) {
      out_ += fmt::format("@{}", n.version);
    }
    out_ += '(';
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      out_ += fmt::format("{}{}", i ? ", " : "", n.inputs[i] == kNoValue ? "_" : ref(n.inputs[i]));
    }
    out_ += ')';
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      out_ += fmt::format("{}{}={}", i ? ", " : " {", word(n.attrs[i].first, ""),
                          attr(n.attrs[i].second));
    }
    if (!n.attrs.empty()) out_ += '}';
    if (!n.name.empty()) out_ += ' ' + quoted(n.name);
    out_ += '\n';
    for (const auto& [name, inner] : n.blocks) {
      out_ += fmt::format("{}  {}:\n", indent, word(name, ""));
      block(inner, indent + "    ");
    }
  }

  static std::string word(std::string_view name, std::string_view extra) {
    return is_plain(name, extra) ? std::string(name) : quoted(name);
  }

  /// "%x", "%x#1" for the second value of that name in the text.
  const std::string& ref(ValueId id) {
    auto [it, is_new] = refs_.try_emplace(id);
    if (is_new) {
      const std::string& name = graph_.value(id).name;
      const int same = names_[name]++;
      it->second = "%" + word(name, "./-@");
      if (same > 0) it->second += fmt::format("#{}", same);
    }
    return it->second;
  }

  std::string typed(ValueId id) {
    const Value& v = graph_.value(id);
    if (v.dtype == DType::kNone && !v.has_shape) return ref(id);
    std::string out = fmt::format("{}: {}", ref(id), dtype_name(v.dtype));
    if (v.element != DType::kNone) out += fmt::format("({})", dtype_name(v.element));
    out += '[';
    if (!v.has_shape) out += "...";
    for (size_t i = 0; i < v.shape.size(); ++i) out += (i ? "," : "") + dim(v.shape[i]);
    out += ']';
    if (v.layout != Layout::kPlain) out += fmt::format(" {}", layout_name(v.layout));
    return out;
  }

  /// Nameless dims (Dim::fresh) have numbers of the process; the text counts its own.
  std::string dim(Dim d) {
    std::string text = d.text();
    if (d.known()) return text;
    if (text.find('?') != text.npos) {
      return fmt::format("?{}", nameless_.try_emplace(d.code(), nameless_.size()).first->second);
    }
    const bool letter = !(text[0] >= '0' && text[0] <= '9');
    return letter && is_plain(text, ".") ? text : quoted(text);
  }

  std::string elements(const Tensor& t) const {
    if (t.count() <= inline_limit_) return tensor_text(t.view(), t.count());
    const XXH128_hash_t h =
        t.dtype() == DType::kString ? hash_strings(t) : XXH3_128bits(t.data(), t.bytes());
    return fmt::format("#{:016x}{:016x}", h.high64, h.low64);
  }

  static XXH128_hash_t hash_strings(const Tensor& t) {
    const std::string text = tensor_text(t.view(), t.count());
    return XXH3_128bits(text.data(), text.size());
  }

  std::string attr(const Attr& a) const {
    if (const auto* x = std::get_if<int64_t>(&a)) return fmt::format("{}", *x);
    if (const auto* x = std::get_if<float>(&a)) return float_attr(*x);
    if (const auto* x = std::get_if<std::string>(&a)) return quoted(*x);
    if (const auto* x = std::get_if<std::vector<int64_t>>(&a)) {
      return x->empty() ? "ints[]" : fmt::format("[{}]", fmt::join(*x, ","));
    }
    if (const auto* x = std::get_if<std::vector<float>>(&a)) {
      return x->empty() ? "floats[]" : list(*x, float_attr);
    }
    if (const auto* x = std::get_if<std::vector<std::string>>(&a)) {
      return x->empty() ? "strings[]" : list(*x, quoted);
    }
    const auto& t = std::get<Tensor>(a);
    return fmt::format("{}{}{}", dtype_name(t.dtype()), dims_text(t.dims()), elements(t));
  }

  template <class T, class F>
  static std::string list(const std::vector<T>& items, F&& text) {
    std::string out = "[";
    for (size_t i = 0; i < items.size(); ++i) out += (i ? "," : "") + text(items[i]);
    return out + "]";
  }

  const Graph& graph_;
  int64_t inline_limit_;
  std::vector<int> uses_;
  std::string out_;
  std::unordered_map<ValueId, std::string> refs_;
  std::map<std::string, int> names_;
  std::map<int64_t, size_t> nameless_;
};

}  // namespace

std::string tensor_text(const TensorView& tensor, int64_t limit) {
  std::string out = "{";
  const int64_t n = tensor.count();
  for (int64_t i = 0; i < n; ++i) {
    if (i) out += ", ";
    if (i == limit) {
      out += "…";
      break;
    }
    out += element_text(tensor, i);
  }
  return out + "}";
}

std::string print_graph(const Graph& graph, int64_t inline_limit) {
  return Printer(graph, inline_limit).print();
}

}  // namespace hasten
