// Small ONNX files, written field by field: a test needs no python and no downloaded model.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace hasten::test {

/// Writes protobuf fields.
class Proto {
 public:
  Proto& number(int field, uint64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Proto& text(int field, std::string_view value) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_.append(value);
    return *this;
  }
  Proto& message(int field, const Proto& value) { return text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t v) {
    for (; v >= 128; v >>= 7) bytes_ += static_cast<char>(v | 128);
    bytes_ += static_cast<char>(v);
  }
  std::string bytes_;
};

/// A model made of nodes, inputs, outputs and float weights.
class TinyOnnx {
 public:
  /// `dims`: numbers, or names for symbols.
  TinyOnnx& input(const std::string& name, int type, const std::vector<std::string>& dims) {
    graph_.message(11, value_info(name, type, dims));
    return *this;
  }
  TinyOnnx& output(const std::string& name, int type, const std::vector<std::string>& dims) {
    graph_.message(12, value_info(name, type, dims));
    return *this;
  }
  TinyOnnx& weight(const std::string& name, const std::vector<int64_t>& dims,
                   const std::vector<float>& values) {
    Proto tensor;
    for (int64_t d : dims) tensor.number(1, static_cast<uint64_t>(d));
    tensor.number(2, 1).text(8, name);
    tensor.text(9, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
    graph_.message(5, tensor);
    return *this;
  }
  /// `attrs`: integers only.
  TinyOnnx& node(const std::string& op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs,
                 const std::vector<std::pair<std::string, int64_t>>& attrs = {}) {
    Proto node;
    for (const auto& i : inputs) node.text(1, i);
    for (const auto& o : outputs) node.text(2, o);
    node.text(3, "node_" + outputs[0]).text(4, op);
    for (const auto& [name, value] : attrs) {
      node.message(5, Proto().text(1, name).number(3, static_cast<uint64_t>(value)).number(20, 2));
    }
    graph_.message(1, node);
    return *this;
  }
  std::string bytes(int64_t opset = 13) const {
    Proto graph = graph_;
    graph.text(2, "tiny");
    return Proto()
        .number(1, 8)
        .message(7, graph)
        .message(8, Proto().text(1, "").number(2, static_cast<uint64_t>(opset)))
        .bytes();
  }

 private:
  static Proto value_info(const std::string& name, int type, const std::vector<std::string>& dims) {
    Proto shape;
    for (const std::string& d : dims) {
      const bool number = !d.empty() && d.find_first_not_of("0123456789") == d.npos;
      shape.message(1, number ? Proto().number(1, std::stoull(d)) : Proto().text(2, d));
    }
    const Proto tensor = Proto().number(1, static_cast<uint64_t>(type)).message(2, shape);
    return Proto().text(1, name).message(2, Proto().message(1, tensor));
  }
  Proto graph_;
};

/// A folder that goes away with the test.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "hasten_test_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file(name);
  }

 private:
  std::string path_;
};

/// y = relu(x * w + b): x is f32[batch,2], w is {{1, -1}, {2, 3}}, b is {0.5, -0.5}.
inline std::string relu_gemm_model() {
  return TinyOnnx()
      .input("x", 1, {"batch", "2"})
      .weight("w", {2, 2}, {1, -1, 2, 3})
      .weight("b", {2}, {0.5F, -0.5F})
      .node("MatMul", {"x", "w"}, {"product"})
      .node("Add", {"product", "b"}, {"sum"})
      .node("Relu", {"sum"}, {"y"})
      .output("y", 1, {"batch", "2"})
      .bytes();
}

}  // namespace hasten::test
