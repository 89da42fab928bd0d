#include "engine/ops/discontinuous.h"

#include <gtest/gtest.h>

#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "engine/ops/infer_graph.h"

namespace hasten::test {
namespace {

/// The inputs on which the last node of a graph decides: "0 2 ".
std::string deciding(const std::string& nodes) {
  auto graph = parse_graph("graph \"g\" opset {\"\": 17, \"com.microsoft\": 1}\n" + nodes);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  if (!graph) return "";
  EXPECT_TRUE(bind_graph(*graph));
  const Status ok = infer_graph(*graph, {});
  EXPECT_TRUE(ok) << ok.error().message;
  const Node& node = graph->main.nodes.back();
  EXPECT_NE(node.def, nullptr) << node.op;
  std::string text;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (decides_on(*graph, node, i)) text += fmt::format("{} ", i);
  }
  return text;
}

TEST(Discontinuous, Rounding) {
  EXPECT_EQ(deciding("in %x: f32[2]\n%y = Round(%x)\nout %y\n"), "0 ");
  EXPECT_EQ(deciding("in %x: f32[2]\n%y, %s, %z = DynamicQuantizeLinear(%x)\nout %y\n"), "0 ");
  EXPECT_EQ(deciding("in %x: f32[2]\nin %s: f32[]\nin %z: u8[]\n"
                     "%y = QuantizeLinear(%x, %s, %z)\nout %y\n"),
            "0 1 ");
  EXPECT_EQ(deciding("in %x: u8[2]\nin %s: f32[]\nin %z: u8[]\n"
                     "%y = DequantizeLinear(%x, %s, %z)\nout %y\n"),
            "");
  EXPECT_EQ(deciding("in %x: i64[2]\nin %z: i64[]\n%y = Mod(%x, %z)\nout %y\n"), "");
}

TEST(Discontinuous, CastsToFewerDigits) {
  const auto cast = [](const char* from, int to) {
    return deciding(fmt::format("in %x: {}[2]\n%y = Cast(%x) {{to={}}}\nout %y\n", from, to));
  };
  EXPECT_EQ(cast("f32", 7), "0 ");   // i64
  EXPECT_EQ(cast("f32", 9), "0 ");   // bool
  EXPECT_EQ(cast("f32", 10), "0 ");  // f16
  EXPECT_EQ(cast("f32", 11), "");    // f64
  EXPECT_EQ(cast("f16", 1), "");     // f32
  EXPECT_EQ(cast("f32", 1), "");
  EXPECT_EQ(cast("i64", 1), "");
  EXPECT_EQ(cast("i64", 9), "");
}

TEST(Discontinuous, Comparisons) {
  for (const char* op : {"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal"}) {
    const auto compare = [op](const char* dtype) {
      return deciding(
          fmt::format("in %x: {0}[2]\nin %k: {0}[2]\n%y = {1}(%x, %k)\nout %y\n", dtype, op));
    };
    EXPECT_EQ(compare("f32"), "0 1 ") << op;
    EXPECT_EQ(compare("i64"), "") << op;
  }
  EXPECT_EQ(deciding("in %x: f32[2]\n%y = Sign(%x)\nout %y\n"), "0 ");
  EXPECT_EQ(deciding("in %x: f32[2]\n%y = ThresholdedRelu(%x)\nout %y\n"), "0 ");
  EXPECT_EQ(deciding("in %x: f32[2]\n%y = ThresholdedRelu(%x) {alpha=0.0}\nout %y\n"), "");
  EXPECT_EQ(deciding("in %x: f32[2]\n%y = Shrink(%x)\nout %y\n"), "0 ");
  EXPECT_EQ(deciding("in %x: f32[2]\n%y = Shrink(%x) {bias=0.5}\nout %y\n"), "");
}

TEST(Discontinuous, Picks) {
  EXPECT_EQ(deciding("in %x: f32[2]\n%y = ArgMax(%x)\nout %y\n"), "0 ");
  EXPECT_EQ(deciding("const %k: i64[1] = {1}\nin %x: f32[2]\n%v, %y = TopK(%x, %k)\nout %y\n"),
            "0 ");
  const std::string pool = " = MaxPool(%x) {kernel_shape=[2]}\nout %y\n";
  EXPECT_EQ(deciding("in %x: f32[1,1,4]\n%y" + pool), "");
  EXPECT_EQ(deciding("in %x: f32[1,1,4]\n%y, %i" + pool), "0 ");
  EXPECT_EQ(deciding("in %x: f32[1,1,2,2]\nin %s: f32[4]\n%y = Resize(%x, _, %s)\nout %y\n"), "2 ");
  EXPECT_EQ(deciding("in %x: f32[1,1,2,2]\nin %s: f32[4]\n"
                     "%y = Resize(%x, _, %s) {mode=\"linear\"}\nout %y\n"),
            "");
}

TEST(Discontinuous, WhatIsSmoothIsNot) {
  for (const char* op : {"Relu", "Abs", "Exp", "Erf", "Softmax", "Identity"}) {
    EXPECT_EQ(deciding(fmt::format("in %x: f32[2]\n%y = {}(%x)\nout %y\n", op)), "") << op;
  }
}

}  // namespace
}  // namespace hasten::test
