#include "engine/ir/text.h"
#include "engine/ops/op.h"
#include "tests/onnx/load_util.h"

namespace hasten::test {
namespace {

TEST(Load, SimpleModel) {
  auto g = load(add_model());
  ASSERT_TRUE(g) << message(g);
  EXPECT_EQ(print_graph(*g),
            "graph \"g\" opset {\"\": 17} ir 8\n"
            "const %c: f32[2] = {10, 20}\n"
            "in %x: f32[2]\n"
            "%y: f32[2] = Add(%x, %c) \"add\"\n"
            "out %y\n");
  ASSERT_EQ(g->main.nodes.size(), 1u);
  EXPECT_EQ(g->main.nodes[0].def, find_op("", "Add", 17));
}

TEST(Load, WeightsAreBorrowedWhereTheyLieAligned) {
  // The weights of 64 models, each with a longer name: some lie aligned, some don't.
  int borrowed = 0, copied = 0;
  for (int length = 1; length <= 64; ++length) {
    ModelSpec m = add_model();
    m.graph.nodes[0] =
        node("Add", {"x", "c"}, {"y"}, {}, std::string(static_cast<size_t>(length), 'n'));
    const std::string bytes = m.bytes();
    auto owner = std::make_shared<std::string>(bytes);
    auto g = load_onnx_bytes(as_bytes(*owner), "", {}, owner);
    ASSERT_TRUE(g);
    const Tensor& c = find_value(*g, "c").constant;
    EXPECT_EQ(elements<float>(c), (std::vector<float>{10, 20}));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(c.data()) % 4, 0u);
    const char* at = static_cast<const char*>(c.data());
    const bool inside = at >= owner->data() && at < owner->data() + owner->size();
    ++(inside ? borrowed : copied);
    // Without an owner everything is copied.
    auto copy = load_onnx_bytes(as_bytes(bytes));
    ASSERT_TRUE(copy);
    const char* elsewhere = static_cast<const char*>(find_value(*copy, "c").constant.data());
    EXPECT_FALSE(elsewhere >= bytes.data() && elsewhere < bytes.data() + bytes.size());
  }
  EXPECT_GT(borrowed, 0);
  EXPECT_GT(copied, 0);
}

TEST(Load, FileStaysMappedWhileItsWeightsLive) {
  TemporaryFolder folder;
  const std::string path = folder.write("m.onnx", add_model().bytes());
  Tensor c;
  {
    auto g = load_onnx(path);
    ASSERT_TRUE(g) << message(g);
    c = find_value(*g, "c").constant;
  }
  std::filesystem::remove(path);
  EXPECT_EQ(elements<float>(c), (std::vector<float>{10, 20}));
}

TEST(Load, TypedFieldsOfEveryDtype) {
  struct Case {
    Proto tensor;
    std::string text;
  };
  const std::vector<Case> cases = {
      {tensor_head("c", {2}, 1).packed_fixed<float>(4, {1.5f, -2}), "f32[2] = {1.5, -2}"},
      {tensor_head("c", {2}, 1).fixed32(4, 1.5f).fixed32(4, -2), "f32[2] = {1.5, -2}"},
      {tensor_head("c", {2}, 2).packed(5, {0, 255}), "u8[2] = {0, 255}"},
      {tensor_head("c", {2}, 3).packed(5, {-128, 127}), "i8[2] = {-128, 127}"},
      {tensor_head("c", {2}, 4).packed(5, {0, 65535}), "u16[2] = {0, 65535}"},
      {tensor_head("c", {2}, 5).packed(5, {-32768, 32767}), "i16[2] = {-32768, 32767}"},
      {tensor_head("c", {3}, 6).packed(5, {INT32_MIN, -1, INT32_MAX}),
       "i32[3] = {-2147483648, -1, 2147483647}"},
      {tensor_head("c", {2}, 7).packed(7, {INT64_MIN, INT64_MAX}),
       "i64[2] = {-9223372036854775808, 9223372036854775807}"},
      {tensor_head("c", {2}, 7).varint(7, 5).varint(7, -6), "i64[2] = {5, -6}"},
      {tensor_head("c", {2}, 8).bytes(6, "a\n").bytes(6, ""), "str[2] = {\"a\\n\", \"\"}"},
      {tensor_head("c", {2}, 9).packed(5, {1, 0}), "bool[2] = {true, false}"},
      {tensor_head("c", {2}, 10).packed(5, {0x3c00, 0xc000}), "f16[2] = {1, -2}"},
      {tensor_head("c", {2}, 11).packed_fixed<double>(10, {0.1, -2}), "f64[2] = {0.1, -2}"},
      {tensor_head("c", {2}, 12).packed(11, {0, 4294967295}), "u32[2] = {0, 4294967295}"},
      {tensor_head("c", {2}, 13).packed(11, {0, -1}), "u64[2] = {0, 18446744073709551615}"},
      {tensor_head("c", {2}, 16).packed(5, {0x3f80, 0xc000}), "bf16[2] = {1, -2}"},
      {tensor_head("c", {2, 0}, 1), "f32[2,0] = {}"},
      {tensor_head("c", {}, 7).varint(7, 5), "i64[] = {5}"},
  };
  for (const Case& c : cases) {
    ModelSpec m;
    m.graph.initializers = {c.tensor};
    m.graph.outputs = {Proto().bytes(1, "c")};
    auto g = load(m);
    ASSERT_TRUE(g) << c.text << ": " << message(g);
    EXPECT_HAS(print_graph(*g), "const %c: " + c.text + "\n");
  }
}

TEST(Load, ConstantNodesBecomeConstants) {
  struct Case {
    Proto attr;
    std::string text;
  };
  const std::vector<Case> cases = {
      {attr_tensor("value", floats("", {1}, {2.5f})), "f32[1] = {2.5}"},
      {attr("value_int", 7), "i64[] = {7}"},
      {attr_ints("value_ints", {1, 2}), "i64[2] = {1, 2}"},
      {attr_ints("value_ints", {}), "i64[0] = {}"},
      {attr_float("value_float", 0.5f), "f32[] = {0.5}"},
      {attr_floats("value_floats", {1, 2}), "f32[2] = {1, 2}"},
      {attr_string("value_string", "a"), "str[] = {\"a\"}"},
      {Proto().bytes(1, "value_strings").bytes(9, "a").bytes(9, "b").varint(20, 8),
       "str[2] = {\"a\", \"b\"}"},
      // Without a type, as very old files have it.
      {Proto().bytes(1, "value_int").varint(3, 7), "i64[] = {7}"},
  };
  for (const Case& c : cases) {
    ModelSpec m;
    m.graph.nodes = {node("Constant", {}, {"c"}, {c.attr})};
    m.graph.outputs = {Proto().bytes(1, "c")};
    auto g = load(m);
    ASSERT_TRUE(g) << c.text << ": " << message(g);
    EXPECT_HAS(print_graph(*g), "const %c: " + c.text + "\n");
    EXPECT_TRUE(g->main.nodes.empty());
  }
}

TEST(Load, InitializerThatIsAnInputIsAConstant) {
  for (int64_t ir : {3, 8}) {
    ModelSpec m = add_model();
    m.ir_version = ir;
    m.graph.inputs.push_back(port("c", kFloat, {2}));
    auto g = load(m);
    ASSERT_TRUE(g) << message(g);
    ASSERT_EQ(g->main.inputs.size(), 1u);
    EXPECT_EQ(g->value(g->main.inputs[0]).name, "x");
    EXPECT_TRUE(find_value(*g, "c").is_constant());
  }
}

TEST(Load, UnusedInitializersAreDropped) {
  ModelSpec m = add_model();
  m.graph.initializers.push_back(floats("unused", {1}, {1}));
  auto g = load(m);
  ASSERT_TRUE(g);
  for (const Value& v : g->values) EXPECT_NE(v.name, "unused");
}

TEST(Load, NodesAreSorted) {
  ModelSpec m;
  m.graph.nodes = {node("Add", {"b", "b"}, {"y"}), node("Add", {"a", "x"}, {"b"}),
                   node("Add", {"x", "x"}, {"a"})};
  m.graph.inputs = {port("x", kFloat, {2})};
  m.graph.outputs = {port("y", kFloat, {2})};
  auto g = load(m);
  ASSERT_TRUE(g) << message(g);
  std::vector<std::string> names;
  for (const Node& n : g->main.nodes) names.push_back(n.name);
  // Nodes without a name go by their output's.
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "y"}));
}

TEST(Load, DeclaredShapes) {
  ModelSpec m;
  m.graph.nodes = {node("Add", {"x", "z"}, {"y"})};
  m.graph.inputs = {port("x", kFloat, {"batch", 3, -1, "", "?", "batch"}), port("z", kFloat)};
  m.graph.outputs = {port("y", kFloat)};
  auto g = load(m);
  ASSERT_TRUE(g) << message(g);
  const Value& x = find_value(*g, "x");
  ASSERT_EQ(x.shape.size(), 6u);
  EXPECT_EQ(x.shape[0], Dim::symbol("batch"));
  EXPECT_EQ(x.shape[5], Dim::symbol("batch"));
  EXPECT_EQ(x.shape[1], Dim(3));
  for (size_t i : {2, 3, 4}) EXPECT_FALSE(x.shape[i].known());
  EXPECT_FALSE(x.shape[2] == x.shape[3]);
  EXPECT_FALSE(x.shape[3] == x.shape[4]);
  EXPECT_FALSE(find_value(*g, "z").has_shape);
}

TEST(Load, ShapeOverrides) {
  ModelSpec m;
  m.graph.nodes = {node("Add", {"x", "z"}, {"y"})};
  m.graph.inputs = {port("x", kFloat, {"batch", 3}), port("z", kFloat, {"batch", "n"})};
  m.graph.outputs = {port("y", kFloat, {"batch", "n"})};
  LoadOptions options;
  options.shapes["x"] = {Dim(4), Dim(3)};
  auto g = load(m, options);
  ASSERT_TRUE(g) << message(g);
  EXPECT_EQ(shape_text(find_value(*g, "x").shape), "[4,3]");
  EXPECT_EQ(shape_text(find_value(*g, "z").shape), "[4,n]");
  EXPECT_EQ(shape_text(find_value(*g, "y").shape), "[4,n]");
  options.shapes = {{"w", {Dim(1)}}};
  EXPECT_EQ(message(load(m, options)),
            "invalid_argument: a shape is given for 'w', the model's inputs are: 'x', 'z'");
  options.shapes = {{"x", {Dim(1)}}};
  EXPECT_EQ(
      message(load(m, options)),
      "invalid_argument: a shape of rank 1 is given for input 'x', which has rank 2: [batch,3]");
}

TEST(Load, SubgraphsCaptureAndShadow) {
  // then: y1 = x + k (both from outside); else: a constant of its own called k.
  GraphSpec then_branch, else_branch;
  then_branch.nodes = {node("Add", {"x", "k"}, {"t"})};
  then_branch.outputs = {port("t", kFloat)};
  else_branch.nodes = {node("Constant", {}, {"k"}, {attr_tensor("value", floats("", {1}, {7}))}),
                       node("Add", {"x", "k"}, {"t"})};
  else_branch.outputs = {port("t", kFloat)};
  ModelSpec m;
  m.graph.nodes = {node("If", {"c"}, {"y"},
                        {attr_graph("then_branch", then_branch.message()),
                         attr_graph("else_branch", else_branch.message())},
                        "if")};
  m.graph.inputs = {port("c", kBool, {}), port("x", kFloat, {"n"})};
  m.graph.outputs = {port("y", kFloat)};
  m.graph.initializers = {floats("k", {1}, {3})};
  auto g = load(m);
  ASSERT_TRUE(g) << message(g);
  EXPECT_EQ(print_graph(*g),
            "graph \"g\" opset {\"\": 17} ir 8\n"
            "const %k: f32[1] = {3}\n"
            "const %k#1: f32[1] = {7}\n"
            "in %c: bool[]\n"
            "in %x: f32[n]\n"
            "%y: f32[...] = If(%c) \"if\"\n"
            "  then_branch:\n"
            "    %t: f32[...] = Add(%x, %k) \"t\"\n"
            "    out %t\n"
            "  else_branch:\n"
            "    %t#1: f32[...] = Add(%x, %k#1) \"t\"\n"
            "    out %t#1\n"
            "out %y\n");
}

TEST(Load, BranchWithoutNodesMayReturnAnOuterValue) {
  GraphSpec then_branch, else_branch;
  then_branch.outputs = {port("x", kFloat)};
  else_branch.outputs = {port("k", kFloat)};
  ModelSpec m;
  m.graph.nodes = {node("If", {"c"}, {"y"},
                        {attr_graph("then_branch", then_branch.message()),
                         attr_graph("else_branch", else_branch.message())})};
  m.graph.inputs = {port("c", kBool, {}), port("x", kFloat, {1})};
  m.graph.outputs = {port("y", kFloat)};
  m.graph.initializers = {floats("k", {1}, {3})};
  auto g = load(m);
  ASSERT_TRUE(g) << message(g);
  const Node& n = g->main.nodes[0];
  ASSERT_EQ(n.blocks.size(), 2u);
  EXPECT_EQ(g->value(n.blocks[0].block.outputs[0]).name, "x");
  EXPECT_TRUE(g->value(n.blocks[1].block.outputs[0]).is_constant());
}

TEST(Load, SubgraphsMayUseValuesThatComeLaterInTheFile) {
  GraphSpec branch;
  branch.outputs = {port("late", kFloat)};
  ModelSpec m;
  m.graph.nodes = {node("If", {"c"}, {"y"},
                        {attr_graph("then_branch", branch.message()),
                         attr_graph("else_branch", branch.message())}),
                   node("Add", {"x", "x"}, {"late"})};
  m.graph.inputs = {port("c", kBool, {}), port("x", kFloat, {1})};
  m.graph.outputs = {port("y", kFloat)};
  auto g = load(m);
  ASSERT_TRUE(g) << message(g);
  EXPECT_EQ(g->main.nodes[0].op, "Add");
}

std::vector<Unsupported> unsupported(const ModelSpec& model) {
  auto list = list_unsupported(as_bytes(model.bytes()));
  EXPECT_TRUE(list) << list.error().message;
  return list ? std::move(*list) : std::vector<Unsupported>();
}

TEST(Load, ListsEverythingUnsupported) {
  ModelSpec m = add_model();
  m.graph.nodes = {
      node("Add", {"x", "c"}, {"a"}, {attr("axis", 1)}, "add"),
      node("Foo", {"a"}, {"b"}, {Proto().bytes(1, "t").bytes(14, "").varint(20, 13)}, "foo"),
      node("Bar", {"b"}, {"d"}, {}, "bar", "my.domain"),
      node("add_f32", {"d"}, {"y"}, {}, "inner", "hasten")};
  const std::vector<Unsupported> list = unsupported(m);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].node, "add");
  EXPECT_EQ(list[0].what, "attribute 'axis' of operator Add (opset 17) is unknown");
  EXPECT_EQ(list[1].what, "operator Foo is unknown");
  EXPECT_EQ(list[1].version, 17);
  EXPECT_EQ(list[2].what, "operator Bar of domain 'my.domain' is unknown");
  EXPECT_EQ(list[3].what, "operator add_f32 of domain 'hasten' is unknown");
  EXPECT_STARTS(message(load(m)), "unsupported: attribute 'axis' of operator Add");
  EXPECT_HAS(message(load(m)), "operator Foo is unknown (node 'foo'); ");
  LoadOptions look;
  look.keep_unsupported = true;
  EXPECT_EQ(message(load(m, look)), "loads");
}

TEST(Load, ListsWhatIsUnsupportedBeforeWeightsAreRead) {
  constexpr int64_t kFloat8 = 17;
  ModelSpec m = add_model();
  m.graph.initializers = {tensor_head("c", {2}, kFloat8),
                          external("gone", {4}, kFloat, {{"location", "not_there.bin"}})};
  GraphSpec branch;
  branch.nodes = {node("Foo", {"x"}, {"b"}, {}, "inner")};
  branch.outputs = {port("b", kFloat)};
  m.graph.nodes = {
      node("Constant", {}, {"k"}, {attr_tensor("value", tensor_head("", {1}, kFloat8))}, "k"),
      node("If", {"flag"}, {"y"},
           {attr_graph("then_branch", branch.message()),
            attr_graph("else_branch", branch.message())}),
      node("F", {"x"}, {"z"}, {}, "call", "local")};
  Proto f;
  f.bytes(1, "F").bytes(4, "a").bytes(5, "r").message(7, node("Bar", {"a"}, {"r"}, {}, "bar"));
  f.message(9, Proto().varint(2, 17)).bytes(10, "local");
  m.functions = {f};
  m.opsets = {{"", 99}, {"local", 1}};
  const std::vector<Unsupported> list = unsupported(m);
  std::vector<std::string> what;
  for (const Unsupported& u : list) what.push_back(u.node + "|" + u.what);
  EXPECT_EQ(what, (std::vector<std::string>{
                      "|the model is of opset 99, the newest supported is 21",
                      "|initializer 'c': data type float8e4m3fn is not supported",
                      "k|attribute 'value' of operator Constant: data type float8e4m3fn is not "
                      "supported",
                      "inner|operator Foo is unknown", "inner|operator Foo is unknown",
                      "call/bar|operator Bar is unknown"}));
  EXPECT_EQ(list[2].op, "Constant");
  for (const Unsupported& u : list) EXPECT_FALSE(u.fix.empty()) << u.what;
}

TEST(Load, OldOpsetOfAKnownOperator) {
  ModelSpec m = add_model();
  m.opsets = {{"ai.onnx", 6}};
  const std::vector<Unsupported> list = unsupported(m);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].what, "operator Add is not implemented for opset 6");
}

// ---- local functions ----

Proto function(std::string_view name, const Names& inputs, const Names& outputs,
               const std::vector<Proto>& nodes, const Names& attributes = {},
               const std::vector<Proto>& defaults = {}) {
  Proto f;
  f.bytes(1, name);
  for (const std::string& i : inputs) f.bytes(4, i);
  for (const std::string& o : outputs) f.bytes(5, o);
  for (const std::string& a : attributes) f.bytes(6, a);
  for (const Proto& n : nodes) f.message(7, n);
  f.message(9, Proto().varint(2, 17));
  f.bytes(10, "local");
  for (const Proto& a : defaults) f.message(11, a);
  return f;
}

ModelSpec function_model(std::vector<Proto> functions, std::vector<Proto> call_attrs = {}) {
  ModelSpec m = add_model();
  m.graph.nodes = {node("F", {"x", "c"}, {"y"}, std::move(call_attrs), "call", "local")};
  m.opsets.emplace_back("local", 1);
  m.functions = std::move(functions);
  return m;
}

TEST(Load, FunctionsAreInlined) {
  auto g = load(function_model({function("F", {"a", "b"}, {"r"},
                                         {node("G", {"a"}, {"t"}, {}, "g", "local"),
                                          node("Add", {"t", "b"}, {"r"}, {}, "sum")}),
                                function("G", {"a"}, {"r"}, {node("Add", {"a", "a"}, {"r"})})}));
  ASSERT_TRUE(g) << message(g);
  EXPECT_EQ(print_graph(*g),
            "graph \"g\" opset {\"\": 17, \"local\": 1} ir 8\n"
            "const %c: f32[2] = {10, 20}\n"
            "in %x: f32[2]\n"
            "%call/t = Add(%x, %x) \"call/g/r\"\n"
            "%y: f32[2] = Add(%call/t, %c) \"call/sum\"\n"
            "out %y\n");
}

TEST(Load, FunctionAttributes) {
  const Proto ref = Proto().bytes(1, "value_float").varint(20, 1).bytes(21, "k");
  const std::vector<Proto> body = {node("Constant", {}, {"t"}, {ref}),
                                   node("Add", {"a", "t"}, {"r"})};
  auto given =
      load(function_model({function("F", {"a", "b"}, {"r"}, body, {"k"})}, {attr_float("k", 3)}));
  ASSERT_TRUE(given) << message(given);
  EXPECT_HAS(print_graph(*given), "const %call/t: f32[] = {3}\n");
  auto by_default =
      load(function_model({function("F", {"a", "b"}, {"r"}, body, {}, {attr_float("k", 5)})}));
  ASSERT_TRUE(by_default) << message(by_default);
  EXPECT_HAS(print_graph(*by_default), "const %call/t: f32[] = {5}\n");
  EXPECT_EQ(
      message(load(function_model({function("F", {"a", "b"}, {"r"}, body)}, {attr("zz", 1)}))),
      "unsupported: node 'call' (F): attribute 'zz' is unknown to the function");
}

TEST(Load, WrongFunctions) {
  EXPECT_HAS(message(load(function_model({function(
                 "F", {"a", "b"}, {"r"}, {node("F", {"a", "b"}, {"r"}, {}, "", "local")})}))),
             "functions call each other more than 32 deep");
  EXPECT_EQ(message(load(
                function_model({function("F", {"a"}, {"r"}, {node("Add", {"a", "a"}, {"r"})})}))),
            "invalid_model: node 'call' (F): has 2 inputs and 1 outputs, the function has 1 and 1");
  EXPECT_EQ(message(load(function_model({function("F", {"a", "b"}, {"r"}, {})}))),
            "invalid_model: node 'call' (F): nothing in the function makes its output 'r'");
  // Names of the caller can't be seen from inside.
  EXPECT_EQ(message(load(function_model(
                {function("F", {"a", "b"}, {"r"}, {node("Add", {"a", "x"}, {"r"}, {}, "n")})}))),
            "invalid_model: node 'call' (F): node 'call/n' (Add): input 1 'x' is made by nothing: "
            "no input, "
            "initializer or node has that name");
}

TEST(Load, FunctionsThatMultiplyAreLimited) {
  // Each calls the next one ten times: 10^20 nodes.
  std::vector<Proto> functions;
  for (int i = 0; i < 20; ++i) {
    std::vector<Proto> calls;
    for (int k = 0; k < 10; ++k) {
      const std::string next = i == 19 ? "Add" : "F" + std::to_string(i + 1);
      calls.push_back(node(next, {"a", "b"}, {k == 9 ? "r" : "r" + std::to_string(k)}, {}, "",
                           i == 19 ? "" : "local"));
    }
    functions.push_back(function(i == 0 ? "F" : "F" + std::to_string(i), {"a", "b"}, {"r"}, calls));
  }
  EXPECT_HAS(message(load(function_model(functions))), "once functions are inlined");
}

TEST(Load, FunctionsDoNotMultiplyNamesAndAttributes) {
  const std::string longish(100000, 'n');
  std::vector<Proto> nodes, list;
  for (int i = 0; i < 1000; ++i) {
    const std::string r = i == 999 ? "r" : "r" + std::to_string(i);
    nodes.push_back(node("G", {"a", "b"}, {r}, {}, longish, "local"));
  }
  const std::vector<Proto> inner = {node("Add", {"a", "b"}, {longish}, {}, longish),
                                    node("Add", {"a", longish}, {"r"})};
  EXPECT_HAS(message(load(function_model({function("F", {"a", "b"}, {"r"}, nodes),
                                          function("G", {"a", "b"}, {"r"}, inner)}))),
             "names and attributes take more than");
}

TEST(Load, LimitOfBytes) {
  LoadOptions options;
  options.limits.bytes = 7;
  EXPECT_EQ(message(load(add_model(), options)),
            "out_of_memory: initializer 'c': the weights need more than the limit of 7 bytes "
            "(see --max-weight-bytes)");
  options.limits.bytes = 8;
  EXPECT_EQ(message(load(add_model(), options)), "loads");
}

}  // namespace
}  // namespace hasten::test
