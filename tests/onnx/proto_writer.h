// Builds ONNX files in memory for tests: protobuf by hand, so that wrong files can be made too.
// Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hasten::test {

/// One protobuf message.
class Proto {
 public:
  Proto& varint(int field, int64_t value) {
    raw_varint(static_cast<uint64_t>(field) << 3);
    raw_varint(static_cast<uint64_t>(value));
    return *this;
  }
  Proto& bytes(int field, std::string_view value) {
    raw_varint(static_cast<uint64_t>(field) << 3 | 2);
    raw_varint(value.size());
    text_ += value;
    return *this;
  }
  Proto& message(int field, const Proto& m) { return bytes(field, m.text_); }
  Proto& fixed32(int field, float value) {
    raw_varint(static_cast<uint64_t>(field) << 3 | 5);
    text_.append(reinterpret_cast<const char*>(&value), 4);
    return *this;
  }
  Proto& packed(int field, const std::vector<int64_t>& values) {
    Proto list;
    for (int64_t v : values) list.raw_varint(static_cast<uint64_t>(v));
    return message(field, list);
  }
  template <class T>
  Proto& packed_fixed(int field, const std::vector<T>& values) {
    return bytes(field, raw(values));
  }
  void raw_varint(uint64_t v) {
    while (v >= 0x80) {
      text_ += static_cast<char>(v | 0x80);
      v >>= 7;
    }
    text_ += static_cast<char>(v);
  }
  const std::string& text() const { return text_; }

  template <class T>
  static std::string raw(const std::vector<T>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

 private:
  std::string text_;
};

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// TensorProto.DataType
enum : int64_t { kFloat = 1, kInt64 = 7, kString = 8, kBool = 9 };

/// A TensorProto without elements.
inline Proto tensor_head(std::string_view name, const std::vector<int64_t>& dims, int64_t type) {
  Proto t;
  for (int64_t d : dims) t.varint(1, d);
  t.varint(2, type);
  if (!name.empty()) t.bytes(8, name);
  return t;
}
/// Elements as raw_data.
template <class T>
Proto tensor(std::string_view name, const std::vector<int64_t>& dims, int64_t type,
             const std::vector<T>& values) {
  return tensor_head(name, dims, type).bytes(9, Proto::raw(values));
}
inline Proto floats(std::string_view name, const std::vector<int64_t>& dims,
                    const std::vector<float>& values) {
  return tensor(name, dims, kFloat, values);
}
inline Proto ints(std::string_view name, const std::vector<int64_t>& dims,
                  const std::vector<int64_t>& values) {
  return tensor(name, dims, kInt64, values);
}

/// A TensorProto with external data; `entries` are location, offset, length …
inline Proto external(std::string_view name, const std::vector<int64_t>& dims, int64_t type,
                      const std::vector<std::pair<std::string, std::string>>& entries) {
  Proto t = tensor_head(name, dims, type);
  for (const auto& [key, value] : entries) t.message(13, Proto().bytes(1, key).bytes(2, value));
  return t.varint(14, 1);
}

/// A dim: a number or a name ("" leaves both out).
struct DimSpec {
  DimSpec(int64_t v) : value(v) {}                            // NOLINT
  DimSpec(int v) : value(v) {}                                // NOLINT
  DimSpec(const char* n) : value(0), name(n), named(true) {}  // NOLINT
  int64_t value;
  std::string name;
  bool named = false;
};

inline Proto tensor_type(int64_t type, const std::vector<DimSpec>& dims) {
  Proto shape;
  for (const DimSpec& d : dims) {
    Proto dim;
    if (!d.named) dim.varint(1, d.value);
    if (d.named && !d.name.empty()) dim.bytes(2, d.name);
    shape.message(1, dim);
  }
  return Proto().message(1, Proto().varint(1, type).message(2, shape));
}

/// A ValueInfoProto of a tensor.
inline Proto port(std::string_view name, int64_t type, const std::vector<DimSpec>& dims) {
  return Proto().bytes(1, name).message(2, tensor_type(type, dims));
}
/// Without a shape.
inline Proto port(std::string_view name, int64_t type) {
  return Proto().bytes(1, name).message(2, Proto().message(1, Proto().varint(1, type)));
}

// AttributeProto
inline Proto attr(std::string_view name, int64_t value) {
  return Proto().bytes(1, name).varint(3, value).varint(20, 2);
}
inline Proto attr_float(std::string_view name, float value) {
  return Proto().bytes(1, name).fixed32(2, value).varint(20, 1);
}
inline Proto attr_string(std::string_view name, std::string_view value) {
  return Proto().bytes(1, name).bytes(4, value).varint(20, 3);
}
inline Proto attr_ints(std::string_view name, const std::vector<int64_t>& values) {
  Proto a = Proto().bytes(1, name);
  for (int64_t v : values) a.varint(8, v);
  return a.varint(20, 7);
}
inline Proto attr_floats(std::string_view name, const std::vector<float>& values) {
  Proto a = Proto().bytes(1, name);
  for (float v : values) a.fixed32(7, v);
  return a.varint(20, 6);
}
inline Proto attr_tensor(std::string_view name, const Proto& t) {
  return Proto().bytes(1, name).message(5, t).varint(20, 4);
}
inline Proto attr_graph(std::string_view name, const Proto& g) {
  return Proto().bytes(1, name).message(6, g).varint(20, 5);
}

using Names = std::vector<std::string>;

/// A NodeProto.
inline Proto node(std::string_view op, const Names& inputs, const Names& outputs,
                  const std::vector<Proto>& attrs = {}, std::string_view name = "",
                  std::string_view domain = "") {
  Proto n;
  for (const std::string& i : inputs) n.bytes(1, i);
  for (const std::string& o : outputs) n.bytes(2, o);
  if (!name.empty()) n.bytes(3, name);
  n.bytes(4, op);
  for (const Proto& a : attrs) n.message(5, a);
  if (!domain.empty()) n.bytes(7, domain);
  return n;
}

/// What a GraphProto holds.
struct GraphSpec {
  std::vector<Proto> nodes, inputs, outputs, initializers, value_infos;
  Proto message() const {
    Proto g;
    for (const Proto& n : nodes) g.message(1, n);
    g.bytes(2, "g");
    for (const Proto& t : initializers) g.message(5, t);
    for (const Proto& v : inputs) g.message(11, v);
    for (const Proto& v : outputs) g.message(12, v);
    for (const Proto& v : value_infos) g.message(13, v);
    return g;
  }
};

/// What a ModelProto holds.
struct ModelSpec {
  GraphSpec graph;
  int64_t ir_version = 8;
  std::vector<std::pair<std::string, int64_t>> opsets = {{"", 17}};
  std::vector<Proto> functions;
  std::string bytes() const {
    Proto m;
    m.varint(1, ir_version);
    m.message(7, graph.message());
    for (const auto& [domain, version] : opsets) {
      m.message(8, Proto().bytes(1, domain).varint(2, version));
    }
    for (const Proto& f : functions) m.message(25, f);
    return m.text();
  }
};

/// y = x + c, f32[2].
inline ModelSpec add_model() {
  ModelSpec m;
  m.graph.nodes = {node("Add", {"x", "c"}, {"y"}, {}, "add")};
  m.graph.inputs = {port("x", kFloat, {2})};
  m.graph.outputs = {port("y", kFloat, {2})};
  m.graph.initializers = {floats("c", {2}, {10, 20})};
  return m;
}

}  // namespace hasten::test
