#include "engine/ops/infer_graph.h"

#include <gtest/gtest.h>

#include "engine/ir/text.h"
#include "engine/ops/bind.h"

namespace hasten {
namespace {

/// Parses the body of a graph of opset 17, binds and infers; the graph's text again, or the error.
std::string infer(const std::string& body, std::vector<Facts>* facts = nullptr,
                  Graph* graph = nullptr) {
  auto g = parse_graph("graph \"g\" opset {\"\": 17}\n" + body);
  if (!g) return "parse: " + g.error().message;
  Status ok = bind_graph(*g);
  if (ok) ok = infer_graph(*g, nullptr, facts);
  if (!ok) return fmt::format("{}: {}", code_name(ok.error().code), ok.error().message);
  std::string text = print_graph(*g);
  text.erase(0, text.find('\n') + 1);
  if (graph != nullptr) *graph = std::move(*g);
  return text;
}

/// The known elements of the graph's first output: "{1, 2}", "-" if not known.
std::string value_of(const std::string& body) {
  std::vector<Facts> facts;
  Graph g;
  const std::string text = infer(body, &facts, &g);
  if (g.main.outputs.empty()) return text;
  const Facts& f = facts[static_cast<size_t>(g.main.outputs[0])];
  if (!f.known_value()) return "-";
  if (f.dtype != DType::kI64) return tensor_text(f.value.view(), 100);
  std::string out = "{";
  for (int64_t i = 0; i < f.value.count(); ++i) {
    const int64_t e = f.value.as<int64_t>()[i];
    out += fmt::format("{}{}", i ? ", " : "",
                       Dim::is_symbol_code(e) ? Dim::from_code(e).text() : fmt::format("{}", e));
  }
  return out + "}";
}

TEST(InferGraph, WritesDtypesAndShapes) {
  EXPECT_EQ(
      infer("in %x: f32[n,3]\nin %y: f32[3]\n%z = Add(%x, %y)\n%w: ?[7] = Add(%z, %z)\nout %w\n"),
      "in %x: f32[n,3]\nin %y: f32[3]\n%z: f32[n,3] = Add(%x, %y)\n"
      "%w: f32[n,3] = Add(%z, %z)\nout %w\n");
}

TEST(InferGraph, DeclaredDtypeThatContradictsIsAnError) {
  EXPECT_EQ(
      infer("in %x: f32[2]\n%y: i64[2] = Add(%x, %x) \"a\"\nout %y\n"),
      "invalid_model: node 'a' (Add): its output 'y' is f32, but the model declares it as i64");
}

TEST(InferGraph, UnknownOperatorsLeaveWhatIsDeclared) {
  EXPECT_EQ(infer("in %x: f32[2]\n%y: f32[9] = Foo(%x)\n%z = Add(%y, %y)\n%u = Foo(%x)\n"
                  "%v: f32[3] = Add(%u, %x)\nout %z, %v\n"),
            "in %x: f32[2]\n%y: f32[9] = Foo(%x)\n%z: f32[9] = Add(%y, %y)\n%u = Foo(%x)\n"
            "%v: f32[3] = Add(%u, %x)\nout %z, %v\n");
}

TEST(InferGraph, CountsAreChecked) {
  EXPECT_EQ(infer("in %x: f32[2]\n%y = Add(%x) \"a\"\nout %y\n"),
            "invalid_model: node 'a' (Add): has 1 inputs, the operator takes 2");
}

TEST(InferGraph, TooManyElements) {
  EXPECT_EQ(
      infer("in %x: f32[2147483648,1]\nin %y: f32[1,4294967296]\n%z = Add(%x, %y) \"a\"\nout %z\n"),
      "invalid_model: node 'a' (Add): shape [2147483648,4294967296] has too many "
      "elements");
}

TEST(InferGraph, FollowsShapes) {
  const std::string shape = "in %x: f32[n,3,h]\n%s = Shape(%x)\n";
  EXPECT_EQ(value_of(shape + "out %s\n"), "{n, 3, h}");
  const std::string gather =
      "const %i: i64[] = {0}\nconst %two: i64[1] = {2}\nconst %m: i64[1] = {-1}\n" + shape +
      "%n = Gather(%s, %i)\n%u = Unsqueeze(%n, %z)\n";
  const std::string axes = "const %z: i64[1] = {0}\n";
  EXPECT_EQ(value_of(axes + gather + "%c = Concat(%u, %m, %two) {axis=0}\nout %c\n"), "{n, -1, 2}");
  // A Reshape to it knows the batch.
  EXPECT_NE(
      infer(axes + gather + "%c = Concat(%u, %m, %two) {axis=0}\n%y = Reshape(%x, %c)\nout %y\n")
          .find("%y: f32[n,?0,2] = Reshape(%x, %c)"),
      std::string::npos);
}

TEST(InferGraph, ArithmeticOnSymbols) {
  const std::string shape =
      "const %k: i64[3] = {2, 1, 0}\nconst %m: i64[3] = {-1, -1, 5}\n"
      "in %x: f32[n,3,h]\n%s = Shape(%x)\n";
  EXPECT_EQ(value_of(shape + "%y = Mul(%s, %k)\nout %y\n"), "{(n*2), 3, 0}");
  EXPECT_EQ(value_of(shape + "%y = Mul(%k, %s)\nout %y\n"), "{(n*2), 3, 0}");
  EXPECT_EQ(value_of(shape + "%y = Add(%s, %k)\nout %y\n"), "{(n+2), 4, h}");
  EXPECT_EQ(value_of(shape + "%y = Sub(%s, %s)\nout %y\n"), "{0, 0, 0}");
  EXPECT_EQ(value_of(shape + "%y = Sub(%s, %k)\nout %y\n"), "-");
  EXPECT_EQ(value_of(shape + "%y = Div(%s, %k)\nout %y\n"), "-");
  EXPECT_EQ(value_of(shape + "%y = Add(%s, %m)\nout %y\n"), "-");
  EXPECT_EQ(value_of(shape + "%y = Equal(%s, %m)\nout %y\n"), "-");
  EXPECT_EQ(value_of("const %m: i64[2] = {-1, 3}\nin %x: f32[n,3]\n%s = Shape(%x)\n"
                     "%y = Equal(%s, %m)\nout %y\n"),
            "{false, true}");
  // Symbols don't go through what computes with elements.
  EXPECT_EQ(value_of(shape + "%y = Neg(%s)\nout %y\n"), "-");
  EXPECT_EQ(value_of("in %x: f32[2,3]\n%s = Shape(%x)\n%y = Neg(%s)\nout %y\n"), "{-2, -3}");
}

TEST(InferGraph, SymbolsAreNoIndices) {
  EXPECT_EQ(value_of("const %d: i64[4] = {1, 2, 3, 4}\nin %x: f32[n]\n%s = Shape(%x)\n"
                     "%y = Gather(%d, %s)\nout %y\n"),
            "-");
}

TEST(InferGraph, WrongElementsAreErrors) {
  EXPECT_EQ(
      infer("const %a: i64[1] = {1}\nconst %z: i64[1] = {0}\n%y = Div(%a, %z) \"d\"\nout %y\n")
          .substr(0, 29),
      "invalid_model: node 'd' (Div)");
}

TEST(InferGraph, LargeValuesAreNotFollowed) {
  EXPECT_EQ(
      value_of("const %s: i64[1] = {1024}\n%y = ConstantOfShape(%s)\n%z = Add(%y, %y)\nout %z\n")
          .substr(0, 3),
      "{0,");
  EXPECT_EQ(
      value_of("const %s: i64[1] = {1025}\n%y = ConstantOfShape(%s)\n%z = Add(%y, %y)\nout %z\n"),
      "-");
}

TEST(InferGraph, ConstantsOfConstants) {
  std::vector<Facts> facts;
  Graph g;
  infer(
      "const %a: i64[1] = {1}\nin %x: f32[2]\n%b = Add(%a, %a)\n%s = Shape(%x)\n%c = Add(%b, "
      "%s)\nout %b, %c\n",
      &facts, &g);
  EXPECT_TRUE(facts[static_cast<size_t>(g.main.outputs[0])].constant);
  // Follows from the input's shape: known, but not for all shapes.
  EXPECT_TRUE(facts[static_cast<size_t>(g.main.outputs[1])].known_value());
  EXPECT_FALSE(facts[static_cast<size_t>(g.main.outputs[1])].constant);
}

std::string if_graph(const std::string& condition, const std::string& then_type,
                     const std::string& else_type) {
  return condition + "in %x: " + then_type + "\nin %z: " + else_type +
         "\n%y = If(%c) \"if\"\n  then_branch:\n    %t = Identity(%x)\n    out %t\n"
         "  else_branch:\n    out %z\nout %y\n";
}
const char* const kUnknown = "in %c: bool[]\n";

TEST(InferGraph, BranchesAreJoined) {
  EXPECT_NE(infer(if_graph(kUnknown, "f32[n,3]", "f32[n,4]")).find("%y: f32[n,?0] = If(%c)"),
            std::string::npos);
  EXPECT_NE(infer(if_graph(kUnknown, "f32[n,3]", "f32[n]")).find("%y: f32[...] = If(%c)"),
            std::string::npos);
  EXPECT_EQ(infer(if_graph(kUnknown, "f32[n,3]", "i64[n,3]")),
            "invalid_model: node 'if' (If): output 0 is f32 of then_branch and i64 of else_branch");
}

TEST(InferGraph, KnownConditionTakesItsBranch) {
  EXPECT_NE(infer(if_graph("const %c: bool[] = {true}\n", "f32[n,3]", "i64[5]"))
                .find("%y: f32[n,3] = If("),
            std::string::npos);
  EXPECT_NE(infer(if_graph("const %c: bool[] = {false}\n", "f32[n,3]", "i64[5]"))
                .find("%y: i64[5] = If("),
            std::string::npos);
}

TEST(InferGraph, WrongIf) {
  EXPECT_EQ(infer("in %c: f32[]\n%y = If(%c) \"if\"\n  then_branch:\n    out %c\n  else_branch:\n  "
                  "  out %c\nout %y\n")
                .substr(0, 31),
            "invalid_model: node 'if' (If): ");
  EXPECT_EQ(infer("in %c: bool[]\n%y = If(%c) \"if\"\n  then_branch:\n    out %c\nout %y\n"),
            "invalid_model: node 'if' (If): attribute 'else_branch' is missing");
}

}  // namespace
}  // namespace hasten
