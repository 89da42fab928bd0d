#include "engine/ir/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "engine/ir/half.h"

namespace hasten {
namespace {

/// The text of the graph that the text gives.
std::string round_trip(const std::string& text) {
  auto graph = parse_graph(text);
  return graph ? print_graph(*graph) : graph.error().message;
}

TEST(GraphText, RoundTrip) {
  const std::string text =
      "graph \"my \\\"net\\\"\" opset {\"\": 17, \"com.x\": 2} ir 8\n"
      "meta \"author\" = \"a\\nb\\x00\"\n"
      "const %w: f32[2] = {1, -0.5}\n"
      "const %\"a b\": str[2] = {\"x\\\\y\", \"\"}\n"
      "const %e: i64[0] = {}\n"
      "const %b: bool[2] = {true, false}\n"
      "in %x: f32[batch,3,?0,\"a+b\"]\n"
      "in %u: ?[2]\n"
      "in %v: f16[...]\n"
      "in %s: f32[]\n"
      "%y: f32[batch,16,?0,?1] nchw16c, _, %z = Foo(%x, _, %w) {i=-3, f=1.0, g=1e-45, h=-inf, "
      "n=nan, m=nan(0x7fc00001), s=\"a\\\"\", is=[1,2], fs=[1.0,0.1], ss=[\"a\",\"b\"], ei=ints[], "
      "ef=floats[], es=strings[], t=i64[2]{1, 2}, q=str[1]{\"a,b\"}} \"foo 1\"\n"
      "%y#1 = Bar@3(%y, %e, %b)\n"
      "%r = com.x::Baz(%y#1, %\"a b\", %u, %v, %s) {a=1}\n"
      "%o: f32[1] = If(%r) \"if\"\n"
      "  then_branch:\n"
      "    in %i: i64[]\n"
      "    %t = Add(%i, %x)\n"
      "    out %t\n"
      "  else_branch:\n"
      "    %n = If(%r)\n"
      "      then_branch:\n"
      "        out %x\n"
      "    out %n\n"
      "= Sink(%o)\n"
      "out %o, %z\n";
  EXPECT_EQ(round_trip(text), text);
}

TEST(GraphText, ParsesValues) {
  auto g = parse_graph(
      "graph \"g\" opset {\"\": 13}\nin %x: f32[n,2] nchw16c\n%y = Op(%x) {k=2, f=2.0} \"a\"\nout "
      "%y\n");
  ASSERT_TRUE(g) << g.error().message;
  const Node& node = g->main.nodes.at(0);
  EXPECT_EQ(node.op, "Op");
  EXPECT_EQ(node.name, "a");
  EXPECT_EQ(node.version, 13);
  EXPECT_EQ(node.def, nullptr);
  EXPECT_EQ(node.attr_int("k", 0), 2);
  EXPECT_EQ(node.attr_float("f", 0), 2.0f);
  const Value& x = g->value(g->main.inputs.at(0));
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.layout, Layout::kNchw16c);
  EXPECT_EQ(x.shape.at(0), Dim::symbol("n"));
  EXPECT_FALSE(g->value(g->main.outputs.at(0)).has_shape);
}

template <class T>
Tensor tensor_of(DType dtype, std::vector<T> values) {
  const Dims dims{static_cast<int64_t>(values.size())};
  return Tensor::of<T>(dtype, dims, values);
}

/// Prints a constant, parses it, and compares the bits.
void expect_same_bits(Tensor t) {
  Graph g;
  g.main.outputs = {g.add_constant("c", t)};
  const std::string text = print_graph(g, 1 << 20);
  auto parsed = parse_graph(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Tensor& back = parsed->value(parsed->main.outputs.at(0)).constant;
  ASSERT_EQ(back.dtype(), t.dtype());
  ASSERT_EQ(back.dims(), t.dims());
  EXPECT_EQ(std::memcmp(back.data(), t.data(), t.bytes()), 0) << text;
  EXPECT_EQ(print_graph(*parsed, 1 << 20), text);
}

TEST(GraphText, FloatsKeepTheirBits) {
  std::vector<float> floats = {0.0f,
                               -0.0f,
                               1.0f / 3,
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::bit_cast<float>(0xffc00000u),
                               std::bit_cast<float>(0x7f800001u)};
  uint32_t state = 1;
  for (int i = 0; i < 2000; ++i) {
    state = state * 1664525u + 1013904223u;
    floats.push_back(std::bit_cast<float>(state));
  }
  expect_same_bits(tensor_of(DType::kF32, floats));
  std::vector<double> doubles = {0.1, -0.0, 5e-324, 1.7976931348623157e308,
                                 std::bit_cast<double>(uint64_t{0x7ff0000000000001})};
  for (float f : floats) doubles.push_back(static_cast<double>(f) * 1.1);
  expect_same_bits(tensor_of(DType::kF64, doubles));
}

TEST(GraphText, All16BitFloatsKeepTheirBits) {
  for (DType dtype : {DType::kF16, DType::kBF16}) {
    Tensor t = *Tensor::make(dtype, {65536});
    for (int i = 0; i < 65536; ++i) t.mutable_as<uint16_t>()[i] = static_cast<uint16_t>(i);
    expect_same_bits(t);
  }
}

TEST(GraphText, IntegersKeepTheirBits) {
  expect_same_bits(tensor_of<int64_t>(DType::kI64, {INT64_MIN, -1, 0, INT64_MAX}));
  expect_same_bits(tensor_of<uint64_t>(DType::kU64, {0, UINT64_MAX}));
  expect_same_bits(tensor_of<int32_t>(DType::kI32, {INT32_MIN, INT32_MAX}));
  expect_same_bits(tensor_of<uint32_t>(DType::kU32, {0, UINT32_MAX}));
  expect_same_bits(tensor_of<int16_t>(DType::kI16, {INT16_MIN, INT16_MAX}));
  expect_same_bits(tensor_of<uint16_t>(DType::kU16, {0, UINT16_MAX}));
  expect_same_bits(tensor_of<int8_t>(DType::kI8, {INT8_MIN, INT8_MAX}));
  expect_same_bits(tensor_of<uint8_t>(DType::kU8, {0, UINT8_MAX}));
}

TEST(GraphText, LargeConstantsByHash) {
  Graph g;
  g.main.outputs = {g.add_constant("c", *Tensor::make(DType::kF32, {65}))};
  const std::string text = print_graph(g);
  EXPECT_NE(text.find("const %c: f32[65] = #"), text.npos) << text;
  auto parsed = parse_graph(text);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
  EXPECT_NE(
      parsed.error().message.find("line 2: elements (a constant was printed by its hash only)"),
      std::string::npos)
      << parsed.error().message;
}

TEST(GraphText, Errors) {
  const std::string head = "graph \"g\" opset {}\n";
  const std::pair<const char*, const char*> cases[] = {
      {"", "line 1: 'out' expected, the text ends"},
      {"out %y\n", "line 2: a value that is made before expected at '%y'"},
      {"in %x: f99[1]\nout\n", "line 2: a dtype expected at 'f99[1]'"},
      {"in %x: f32[1\nout\n", "line 2: ',' expected at ''"},
      {"in %x\nin %x\nout\n", "line 3: a value that is not made before expected at '%x'"},
      {"in %x\n  %y = A(%x)\nout\n", "line 3: 0 spaces expected at '%y = A(%x)'"},
      {"in %x\n%y = A(%x) {a=}\nout\n", "line 3: a name expected at '}'"},
      {"in %x\n%y = A(%x) \"a\nout\n", "line 3: a closing quote expected at ''"},
      {"const %c: i8[1] = {300}\nout\n", "line 2: a number that fits expected at '300}'"},
      {"const %c: i8[2] = {3}\nout\n", "line 2: ',' expected at '}'"},
      {"const %c: i8[9999999999] = {3}\nout\n", "line 2: 9999999999 elements expected at '{3}'"},
      {"const %c: i8[n] = {3}\nout\n", "line 2: a constant with a known type expected at '{3}'"},
      {"out\nout\n", "line 3: nothing more expected at 'out'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(round_trip(head + text), error) << text;
  EXPECT_EQ(round_trip(""), "line 1: the text is empty");
  EXPECT_EQ(round_trip("hello"), "line 1: 'graph' expected at 'hello'");
}

TEST(GraphText, DeepBlocksAreRefused) {
  std::string text = "graph \"g\" opset {}\nin %c\n", indent;
  for (int i = 0; i < 100000; ++i) {
    text += indent + "%x" + std::to_string(i) + " = If(%c)\n" + indent + "  then_branch:\n";
    indent += "    ";
    if (i > 100) break;
  }
  EXPECT_NE(round_trip(text).find("blocks nested less deeply"), std::string::npos);
}

TEST(TensorText, Limit) {
  EXPECT_EQ(tensor_text(Tensor::ints({5}, std::vector<int64_t>{1, 2, 3, 4, 5}).view(), 3),
            "{1, 2, 3, …}");
  EXPECT_EQ(tensor_text(Tensor::ints({2}, std::vector<int64_t>{1, 2}).view(), 2), "{1, 2}");
  EXPECT_EQ(tensor_text(Tensor::floats({}, std::vector<float>{0.1f}).view(), 2), "{0.1}");
}

}  // namespace
}  // namespace hasten
