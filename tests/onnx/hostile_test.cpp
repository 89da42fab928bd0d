// Files that are broken, lie, or ask for too much: one clear error each.
#include <chrono>

#include "tests/onnx/load_util.h"

namespace hasten::test {
namespace {

ModelSpec with_initializer(const Proto& t) {
  ModelSpec m = add_model();
  m.graph.initializers = {t};
  return m;
}

ModelSpec with_nodes(std::vector<Proto> nodes) {
  ModelSpec m = add_model();
  m.graph.nodes = std::move(nodes);
  return m;
}

TEST(Hostile, NotAModel) {
  EXPECT_EQ(message(load("")), "invalid_model: the file is empty");
  EXPECT_STARTS(message(load("hello, this is no model at all")),
                "invalid_model: not an ONNX file, or a damaged one: ");
  EXPECT_STARTS(message(load(std::string(1000, '\xff'))),
                "invalid_model: not an ONNX file, or a damaged one: ");
  EXPECT_STARTS(message(load(std::string(1000, '\0'))),
                "invalid_model: not an ONNX file, or a damaged one: ");
  EXPECT_HAS(message(load("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")),
             "Git LFS pointer");
  EXPECT_EQ(message(load(Proto().varint(1, 8).text())),
            "invalid_model: not an ONNX file, or a damaged one: it holds no graph");
  auto missing = load_onnx("/nonexistent/m.onnx");
  EXPECT_EQ(message(missing), "io: cannot open '/nonexistent/m.onnx': No such file or directory");
  EXPECT_EQ(message(load_onnx("/tmp")), "io: '/tmp' is not a regular file");
}

TEST(Hostile, Truncated) {
  const std::string bytes = add_model().bytes();
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_STARTS(message(load(bytes.substr(0, n))), "invalid_model: ") << n;
  }
  EXPECT_EQ(message(load(bytes)), "loads");
}

TEST(Hostile, EveryByteFlipped) {
  // Anything may come out but a crash; sanitizers watch.
  ModelSpec m = add_model();
  m.graph.nodes.push_back(node("Constant", {}, {"k"}, {attr_ints("value_ints", {1, 2, 3})}));
  m.graph.initializers.push_back(tensor_head("s", {2}, kString).bytes(6, "a").bytes(6, "b"));
  m.graph.initializers.push_back(tensor_head("i", {3}, 6).packed(5, {1, 2, 3}));
  const std::string bytes = m.bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int flip : {0x01, 0x02, 0x08, 0x40, 0x80, 0xff}) {
      std::string broken = bytes;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      (void)load(broken);
    }
  }
}

TEST(Hostile, LengthsBeyond32Bits) {
  Proto m;
  m.varint(1, 8);
  m.raw_varint(7 << 3 | 2);               // the graph …
  m.raw_varint((uint64_t{1} << 32) + 4);  // … says it has 2^32 + 4 bytes
  std::string bytes = m.text() + "abcd";
  EXPECT_HAS(message(load(bytes)),
             "field 7 says that 4294967300 bytes follow, 4 do (graph, byte 2)");
}

TEST(Hostile, WireTypes) {
  EXPECT_HAS(message(load(Proto().bytes(1, "8").text())), "field 1 has wire type 2 instead of 0");
  EXPECT_HAS(message(load(Proto().varint(7, 8).text())), "field 7 has wire type 0 instead of 2");
  ModelSpec m = add_model();
  m.graph.nodes.push_back(node("Add", {"x", "x"}, {"z"}, {Proto().bytes(1, "a").varint(2, 5)}));
  EXPECT_HAS(message(load(m)), "(graph.node[1].attribute[0], byte ");
}

TEST(Hostile, NamesMustBeUtf8) {
  ModelSpec m = add_model();
  m.graph.nodes[0] = node("Add", {"x", "c"}, {"y"}, {}, "\xff\xfe");
  EXPECT_HAS(message(load(m)), "field 3 is not UTF-8 text (graph.node[0], byte ");
}

TEST(Hostile, Versions) {
  ModelSpec m = add_model();
  m.opsets.clear();
  EXPECT_EQ(message(load(m)), "invalid_model: the model has no opset_import");
  m.opsets = {{"other", 1}};
  EXPECT_EQ(message(load(m)),
            "invalid_model: node 'add' (Add): no opset is imported for the operators of ONNX");
  m.opsets = {{"", 999}};
  EXPECT_EQ(message(load(m)),
            "unsupported: the model is of opset 999, the newest supported is 21: export it with an "
            "opset of at most 21");
  m.opsets = {{"", 0}};
  EXPECT_EQ(message(load(m)), "invalid_model: the model imports opset 0 of domain ''");
  m.opsets = {{"", 17}, {"ai.onnx", 13}};
  EXPECT_EQ(message(load(m)),
            "invalid_model: the model imports domain 'ai.onnx' as opset 17 and as opset 13");
  m = add_model();
  m.ir_version = 99;
  EXPECT_EQ(message(load(m)), "unsupported: the ir_version is 99, the newest known is 14");
  m.ir_version = 0;
  EXPECT_EQ(message(load(m)), "invalid_model: the ir_version is 0, it must be 1 to 14");
}

TEST(Hostile, Cycles) {
  EXPECT_EQ(message(load(with_nodes({node("Add", {"x", "b"}, {"a"}, {}, "n1"),
                                     node("Add", {"x", "a"}, {"b"}, {}, "n2"),
                                     node("Add", {"x", "x"}, {"y"}, {}, "n3")}))),
            "invalid_model: node 'n1' (Add) is part of a cycle: it needs its own output");
  EXPECT_EQ(message(load(with_nodes({node("Add", {"x", "y"}, {"y"}, {}, "self")}))),
            "invalid_model: node 'self' (Add) is part of a cycle: it needs its own output");
}

TEST(Hostile, Names) {
  EXPECT_EQ(message(load(with_nodes({node("Add", {"x", "c"}, {"y"}, {}, "n1"),
                                     node("Add", {"c", "x"}, {"y"}, {}, "n2")}))),
            "invalid_model: node 'n2' (Add): output 'y': the name 'y' is taken by another value");
  EXPECT_EQ(message(load(with_nodes({node("Add", {"x", "c"}, {"x"}, {}, "n1")}))),
            "invalid_model: node 'n1' (Add): output 'x': the name 'x' is taken by another value");
  EXPECT_EQ(message(load(with_nodes({node("Add", {"x", "c"}, {"c"}, {}, "n1")}))),
            "invalid_model: node 'n1' (Add): output 'c': the name 'c' is taken by another value");
  EXPECT_EQ(
      message(load(with_nodes({node("Add", {"x", "nope"}, {"y"}, {}, "n1")}))),
      "invalid_model: node 'n1' (Add): input 1 'nope' is made by nothing: no input, initializer "
      "or node has that name");
  ModelSpec m = add_model();
  m.graph.initializers.push_back(floats("c", {2}, {1, 2}));
  EXPECT_EQ(message(load(m)), "invalid_model: initializer 'c' is there twice");
  m = add_model();
  m.graph.initializers.clear();
  EXPECT_HAS(message(load(m)), "input 1 'c' is made by nothing");
  m = add_model();
  m.graph.inputs.push_back(port("x", kFloat, {2}));
  EXPECT_EQ(message(load(m)), "invalid_model: input 'x': the name 'x' is taken by another value");
  m = add_model();
  m.graph.outputs = {port("nope", kFloat, {2})};
  EXPECT_HAS(message(load(m)), "output 'nope' is made by nothing");
  m.graph.outputs = {port("y", kFloat, {2}), port("y", kFloat, {2})};
  EXPECT_EQ(message(load(m)), "invalid_model: output 'y' is listed twice");
  m.graph.outputs.clear();
  EXPECT_EQ(message(load(m)), "invalid_model: the graph has no outputs");
}

TEST(Hostile, Tensors) {
  auto error = [](const Proto& t) { return message(load(with_initializer(t))); };
  const std::string c = "invalid_model: initializer 'c': ";
  EXPECT_EQ(error(floats("c", {2}, {1})), c + "raw_data has 4 bytes, f32[2] needs 8");
  EXPECT_EQ(error(floats("c", {2}, {1, 2, 3})), c + "raw_data has 12 bytes, f32[2] needs 8");
  EXPECT_EQ(error(floats("c", {-2}, {1, 2})), c + "negative dimension in [-2]");
  EXPECT_EQ(error(floats("c", {int64_t{1} << 32, int64_t{1} << 32}, {1})),
            c + "shape [4294967296,4294967296] has too many elements");
  EXPECT_EQ(error(tensor_head("c", {int64_t{1} << 62}, kFloat)),
            c + "shape [4611686018427387904] has too many elements");
  EXPECT_EQ(error(tensor_head("c", {int64_t{1} << 40}, kFloat)),
            c + "it has no elements, f32[1099511627776] needs 1099511627776");
  EXPECT_EQ(error(tensor_head("c", {2}, 99)), c + "data type 99 doesn't exist");
  EXPECT_EQ(error(tensor_head("c", {2}, 0)), c + "data type 0 doesn't exist");
  EXPECT_EQ(error(floats("c", {2}, {1, 2}).packed_fixed<float>(4, {1, 2})),
            c + "its elements are given twice, in raw_data and in float_data");
  EXPECT_EQ(error(tensor_head("c", {2}, kFloat).packed(7, {1, 2}).packed_fixed<float>(4, {1, 2})),
            c + "its elements are given twice, in float_data and in int64_data");
  EXPECT_EQ(error(tensor_head("c", {2}, kFloat).packed(7, {1, 2})),
            c + "elements of f32[2] can't be in int64_data");
  EXPECT_EQ(error(tensor_head("c", {3}, kInt64).packed(7, {1, 2})),
            c + "int64_data has 2 elements, i64[3] needs 3");
  EXPECT_EQ(error(tensor_head("c", {2}, 3).packed(5, {1, 300})),
            c + "element 1 is 300, beyond the dtype");
  EXPECT_EQ(error(tensor_head("c", {2}, 2).packed(5, {1, -1})),
            c + "element 1 is -1, beyond the dtype");
  EXPECT_EQ(error(tensor("c", {2}, kBool, std::vector<uint8_t>{0, 2})),
            c + "element 1 is 2, a bool is 0 or 1");
  EXPECT_EQ(error(tensor_head("c", {1}, kString).bytes(9, "x")),
            c + "strings can't be in raw_data");
  EXPECT_EQ(error(tensor_head("c", {2}, kFloat).bytes(4, "abcdefg")),
            c + "float_data has 1 elements, f32[2] needs 2");
  EXPECT_EQ(error(tensor_head("c", {1}, kFloat).bytes(4, "abcdefg")),
            c + "float_data has a broken length");
  EXPECT_EQ(error(tensor_head("c", {2}, kFloat).varint(14, 7)),
            c + "data_location 7 doesn't exist");
  for (auto [type, name] : std::vector<std::pair<int64_t, std::string>>{
           {14, "complex64"}, {17, "float8e4m3fn"}, {20, "float8e5m2fnuz"}, {22, "int4"}}) {
    EXPECT_EQ(error(tensor_head("c", {2}, type).bytes(9, "xx")),
              "unsupported: initializer 'c': data type " + name +
                  " is not supported: convert it to float32, float16 or int8");
  }
}

TEST(Hostile, Types) {
  ModelSpec m = add_model();
  m.graph.inputs = {port("x", 17, {2})};
  EXPECT_EQ(
      message(load(m)),
      "unsupported: input 'x': data type float8e4m3fn is not supported: convert it to float32, "
      "float16 or int8");
  m.graph.inputs = {Proto().bytes(1, "x").message(2, Proto().bytes(5, ""))};
  EXPECT_HAS(message(load(m)), "'x' is of type map: only tensors, sequences and optional ones");
  m.graph.inputs = {Proto().bytes(1, "x")};
  EXPECT_EQ(message(load(m)), "invalid_model: input 'x' has no data type");
  m.graph.inputs = {port("x", kFloat, {int64_t{1} << 40, int64_t{1} << 40})};
  EXPECT_HAS(message(load(m)), "too many elements");
  m = add_model();
  m.graph.outputs = {port("y", 22, {2})};
  EXPECT_HAS(message(load(m)), "data type int4 is not supported");
}

TEST(Hostile, Nodes) {
  EXPECT_EQ(message(load(with_nodes({node("Add", {"x"}, {"y"}, {}, "n")}))),
            "invalid_model: node 'n' (Add): has 1 inputs, the operator takes 2");
  EXPECT_EQ(message(load(with_nodes({node("Add", {"x", "c", "c"}, {"y"}, {}, "n")}))),
            "invalid_model: node 'n' (Add): has 3 inputs, the operator takes 2");
  EXPECT_EQ(message(load(with_nodes({node("Add", {"", "c"}, {"y"}, {}, "n")}))),
            "invalid_model: node 'n' (Add): input 0 is required, but absent");
  EXPECT_EQ(message(load(with_nodes({node("Add", {"x", "c"}, {"y", "z"}, {}, "n")}))),
            "invalid_model: node 'n' (Add): has 2 outputs, the operator gives 1");
  EXPECT_EQ(
      message(load(
          with_nodes({node("Reshape", {"x", "c"}, {"y"}, {attr_float("allowzero", 1)}, "n")}))),
      "invalid_model: node 'n' (Reshape): attribute 'allowzero' is of type float, it must be of "
      "type int");
  EXPECT_EQ(message(load(with_nodes({node("Reshape", {"x", "c"}, {"y"},
                                          {attr("allowzero", 1), attr("allowzero", 0)}, "n")}))),
            "invalid_model: node 'n' (Reshape): attribute 'allowzero' is there twice");
  EXPECT_EQ(message(load(with_nodes(
                {node("Reshape", {"x", "c"}, {"y"},
                      {Proto().bytes(1, "allowzero").varint(20, 2).bytes(21, "k")}, "n")}))),
            "invalid_model: node 'n' (Reshape): attribute 'allowzero' refers to 'k' of a function, "
            "outside of any");
  EXPECT_EQ(
      message(load(with_nodes({node("Reshape", {"x", "c"}, {"y"},
                                    {Proto().bytes(1, "allowzero").varint(20, 77)}, "n")}))),
      "invalid_model: node 'n' (Reshape): attribute 'allowzero' has the type 77, which doesn't "
      "exist");
  EXPECT_EQ(
      message(load(with_nodes(
          {node("Reshape", {"x", "c"}, {"y"},
                {Proto().bytes(1, "allowzero").varint(3, 1).bytes(4, "s").varint(20, 2)}, "n")}))),
      "invalid_model: node 'n' (Reshape): attribute 'allowzero' is of type int, but holds a value "
      "of type string");
  EXPECT_HAS(message(load(with_nodes({Proto().bytes(1, "x").bytes(2, "y")}))),
             "a node without op_type (graph.node[0]");
}

TEST(Hostile, ATypeThatHoldsNone) {
  EXPECT_EQ(message(load(with_nodes(
                {node("Optional", {"x"}, {"y"}, {Proto().bytes(1, "type").varint(20, 13)}, "n")}))),
            "invalid_model: node 'n' (Optional): attribute 'type' is of type type, but holds none");
}

TEST(Hostile, ConstantNodes) {
  auto error = [](std::vector<Proto> attrs) {
    return message(load(with_nodes(
        {node("Constant", {}, {"k"}, std::move(attrs), "n"), node("Add", {"x", "k"}, {"y"})})));
  };
  const std::string n = "node 'n' (Constant): ";
  EXPECT_EQ(error({}), "invalid_model: " + n + "has no value");
  EXPECT_EQ(error({attr("value_int", 1), attr_float("value_float", 1)}),
            "invalid_model: " + n + "has both attributes 'value_int' and 'value_float'");
  EXPECT_EQ(error({Proto().bytes(1, "sparse_value").bytes(22, "").varint(20, 11)}),
            "unsupported: attribute 'sparse_value' of operator Constant is sparse (node 'n'): "
            "store it as "
            "a plain tensor");
  EXPECT_EQ(
      error({attr("value_float", 1)}),
      "invalid_model: " + n + "attribute 'value_float' is of type int, it must be of type float");
  EXPECT_EQ(error({attr("foo", 1)}), "unsupported: " + n + "unknown attribute 'foo'");
  EXPECT_EQ(error({attr_tensor("value", floats("", {2}, {1}))}),
            "invalid_model: " + n + "raw_data has 4 bytes, f32[2] needs 8");
}

TEST(Hostile, Subgraphs) {
  GraphSpec body;
  body.inputs = {port("i", kInt64, {})};
  body.outputs = {port("i", kInt64, {})};
  body.initializers = {ints("i", {}, {1})};
  EXPECT_HAS(message(load(with_nodes(
                 {node("Loop", {"x"}, {"y"}, {attr_graph("body", body.message())}, "n")}))),
             "node 'n' (Loop): input 'i' of a subgraph is also an initializer");
  // Names of a subgraph can't be seen from outside.
  GraphSpec branch;
  branch.nodes = {node("Add", {"x", "x"}, {"inner"})};
  branch.outputs = {port("inner", kFloat, {2})};
  EXPECT_HAS(message(load(with_nodes(
                 {node("If", {"x"}, {"z"}, {attr_graph("then_branch", branch.message())}),
                  node("Add", {"inner", "z"}, {"y"}, {}, "n")}))),
             "node 'n' (Add): input 0 'inner' is made by nothing");
  // Nested without end.
  Proto nested = branch.message();
  for (int i = 0; i < 200; ++i) {
    GraphSpec g;
    g.nodes = {node("If", {"x"}, {"inner"}, {attr_graph("then_branch", nested)})};
    g.outputs = branch.outputs;
    nested = g.message();
  }
  EXPECT_HAS(
      message(load(with_nodes({node("If", {"x"}, {"y"}, {attr_graph("then_branch", nested)})}))),
      "subgraphs are nested more than 32 deep");
}

TEST(Hostile, SparseInitializers) {
  ModelSpec m = add_model();
  Proto g = m.graph.message();
  g.message(15, Proto().message(1, floats("sparse_w", {1}, {1})));
  const std::string bytes =
      Proto().varint(1, 8).message(7, g).message(8, Proto().varint(2, 17)).text();
  EXPECT_EQ(message(load(bytes)),
            "unsupported: initializer 'sparse_w' is sparse: store it as a plain tensor");
}

TEST(Hostile, ManyNodesAreLimitedInTime) {
  ModelSpec m = add_model();
  m.graph.nodes.clear();
  for (int i = 0; i < 30000; ++i) {
    m.graph.nodes.push_back(node("Add", {"x", i == 29999 ? "x" : "v" + std::to_string(i + 1)},
                                 {i == 0 ? "y" : "v" + std::to_string(i)}));
  }
  auto g = load(m);  // in the wrong order, too
  EXPECT_EQ(message(g), "loads");
  LoadOptions options;
  options.limits.nodes = 1000;
  EXPECT_HAS(message(load(m, options)), "more nodes than the limit of 1000 (see --max-nodes)");
}

}  // namespace
}  // namespace hasten::test
