#include "measure/problem.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/ops/op.h"

namespace hasten::test {
namespace {

Problem parsed(const std::string& line) {
  auto problems = parse_problems(line + "\n", "list.txt");
  if (!problems || problems->size() != 1u) {
    ADD_FAILURE() << (problems ? "not one problem" : problems.error().message);
    return {};
  }
  return problems->front();
}

BuiltProblem built(const std::string& line, bool plain = false) {
  auto result = build_problem(parsed(line), plain, 1);
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  return std::move(*result);
}

std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.main.nodes) names.push_back(node.op);
  return names;
}

TEST(Problems, CommentsAndBlanksAreNoProblems) {
  const auto problems =
      parse_problems("# a list\n\n  MatMul  2x3\tw:3x4   # small\r\n \nRelu 5", "list.txt");
  ASSERT_TRUE(problems) << problems.error().message;
  ASSERT_EQ(problems->size(), 2u);
  EXPECT_EQ((*problems)[0].text, "MatMul 2x3 w:3x4");
  EXPECT_EQ((*problems)[0].place(), "list.txt:3");
  EXPECT_EQ((*problems)[1].place(), "list.txt:5");
}

TEST(Problems, AllFormsOfOperandsAndKeys) {
  const Problem p = parsed(
      "hasten::Op 1x64x5 u8:7 w:3x4 w:i8:8 =0.5 u8:=128 i64:=[1,-2] _ a=2 b=[1,1] c=0.5 d=linear "
      "e=[x,y] then=Add,Relu math=exact layout=nchw16c outputs=3 tolerance=1e-4");
  EXPECT_EQ(p.op, "hasten::Op");
  ASSERT_EQ(p.operands.size(), 8u);
  const auto is = [&](size_t i, Operand::Kind kind, DType dtype, const Dims& dims,
                      const std::vector<double>& values) {
    const Operand& o = p.operands[i];
    EXPECT_EQ(o.kind, kind) << i;
    EXPECT_EQ(o.dtype, dtype) << i;
    EXPECT_EQ(o.dims, dims) << i;
    EXPECT_EQ(o.values, values) << i;
  };
  is(0, Operand::kInput, DType::kF32, {1, 64, 5}, {});
  is(1, Operand::kInput, DType::kU8, {7}, {});
  is(2, Operand::kWeight, DType::kF32, {3, 4}, {});
  is(3, Operand::kWeight, DType::kI8, {8}, {});
  is(4, Operand::kScalar, DType::kF32, {}, {0.5});
  is(5, Operand::kScalar, DType::kU8, {}, {128});
  is(6, Operand::kList, DType::kI64, {}, {1, -2});
  is(7, Operand::kAbsent, DType::kF32, {}, {});
  EXPECT_EQ(p.attributes, "a=2, b=[1,1], c=0.5, d=\"linear\", e=[\"x\",\"y\"]");
  EXPECT_EQ(p.then, (std::vector<std::string>{"Add", "Relu"}));
  EXPECT_TRUE(p.exact_math);
  EXPECT_TRUE(p.blocked);
  EXPECT_EQ(p.outputs, 3);
  EXPECT_EQ(p.tolerance, 1e-4);
}

TEST(Problems, AWrongLineIsNamedWithWhatIsWrong) {
  const std::pair<const char*, const char*> lines[] = {
      {"5 1x2", "'5' is no operator"},
      {"Relu", "'Relu' has no operands"},
      {"Relu 1x0", "'0' is no dim from 1"},
      {"Relu 1x-3", "'-3' is no dim from 1"},
      {"Relu 1xx3", "'' is no dim from 1"},
      {"Relu 1x3.5", "'3.5' is no dim from 1"},
      {"Relu w:", "'' is no dim from 1"},
      {"Relu f31:4", "'f31' is no dtype"},
      {"Relu str:4", "'str' is no dtype"},
      {"Relu =a", "'a' is no number"},
      {"Relu =[1,,2]", "'' is no number"},
      {"Relu 99999999x99999999x99999999", "too many elements"},
      {"Relu axis=1 4", "'4' stands behind a KEY=VALUE"},
      {"Relu 4 axis=[1", "attribute axis=[1"},
      {"Relu 4 axis=", "attribute axis="},
      {"Relu 4 axis=[1,x]", "attribute axis=[1,x]"},
      {"Relu 4 math=none", "math=none: want exact or fast"},
      {"Relu 4 layout=nhwc", "layout=nhwc: want nchw16c or plain"},
      {"Relu 4 outputs=0", "outputs=0: want a number from 1"},
      {"Relu 4 tolerance=-1", "tolerance=-1: want a number from 0"},
      {"Relu 4 tolerance=nan", "tolerance=nan: want a number from 0"},
      {"Relu 4 then=Add,", "'' is no operator"},
  };
  for (const auto& [line, wanted] : lines) {
    const auto problems = parse_problems(std::string("# list\n") + line, "list.txt");
    ASSERT_FALSE(problems) << line;
    EXPECT_EQ(problems.error().code, Code::kInvalidArgument) << line;
    EXPECT_TRUE(problems.error().message.starts_with("list.txt:2: ")) << problems.error().message;
    EXPECT_NE(problems.error().message.find(wanted), std::string::npos)
        << problems.error().message << "\nwanted: " << wanted;
  }
  const auto none = parse_problems("# nothing\n\n", "list.txt");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("list.txt: there is no problem"), std::string::npos);
}

TEST(Problems, WhatTheOperatorRefusesIsNamedToo) {
  const std::pair<const char*, const char*> lines[] = {
      {"NoSuchOp 4", "operator NoSuchOp"},
      {"Relu 4 alpha=2", "Relu has no attribute 'alpha'; it has none"},
      {"Conv 1x3x8x8 w:4x3x3x3 padding=[1,1]", "Conv has no attribute 'padding'; it has "},
      {"Conv 1x3x8x8", "has 1 inputs"},
      {"Conv 1x3x8x8 w:4x5x3x3", "weight has 5 input channels"},
      {"Relu 4 then=NoSuchOp", "then=NoSuchOp is not known"},
      {"Relu 4 then=MatMul", "then=MatMul is not known"},
      {"Relu 1x4 layout=nchw16c", "this doesn't run on blocked images"},
      {"Relu 1x16x4x4 layout=nchw16c then=Relu", "nothing may follow"},
  };
  for (const auto& [line, wanted] : lines) {
    const auto result = build_problem(parsed(line), false, 1);
    ASSERT_FALSE(result) << line;
    EXPECT_TRUE(result.error().message.starts_with("list.txt:1: ")) << result.error().message;
    EXPECT_NE(result.error().message.find(wanted), std::string::npos)
        << result.error().message << "\nwanted: " << wanted;
  }
}

TEST(Problems, WeightsAreConstantsAndInputsAreNot) {
  const BuiltProblem b = built("Conv 1x3x8x8 w:4x3x3x3 w:4 pads=[1,1,1,1] then=Add,Relu6");
  ASSERT_EQ(b.graph.main.inputs.size(), 2u) << "the image and the residual";
  ASSERT_EQ(b.inputs.size(), 2u);
  EXPECT_EQ(b.inputs[0].dims(), (Dims{1, 3, 8, 8}));
  EXPECT_EQ(b.inputs[1].dims(), (Dims{1, 4, 8, 8}));
  EXPECT_EQ(ops(b.graph), (std::vector<std::string>{"Conv", "Add", "Clip"}));
  const Node& conv = b.graph.main.nodes[0];
  EXPECT_EQ(conv.name, "problem");
  EXPECT_EQ(b.graph.value(conv.inputs[1]).constant.dims(), (Dims{4, 3, 3, 3}));
  EXPECT_EQ(b.graph.value(conv.inputs[2]).constant.dims(), (Dims{4}));
}

TEST(Problems, SameSeedSameElements) {
  const BuiltProblem a = built("MatMul 2x3 w:3x4"), b = built("MatMul 2x3 w:3x4");
  const auto c = build_problem(parsed("MatMul 2x3 w:3x4"), false, 2);
  ASSERT_TRUE(c);
  const auto first = [](const BuiltProblem& p) { return p.inputs.at(0).as<float>()[0]; };
  EXPECT_EQ(first(a), first(b));
  EXPECT_NE(first(a), first(*c));
  const auto weight = [](const BuiltProblem& p) {
    return p.graph.value(p.graph.main.nodes[0].inputs[1]).constant.as<float>()[0];
  };
  EXPECT_EQ(weight(a), weight(b));
  EXPECT_NE(weight(a), weight(*c));
}

TEST(Problems, IndicesStayInsideTheirTable) {
  const BuiltProblem b = built("Gather w:5x2 i64:1000");
  bool in_range = true, last = false;
  for (int64_t i = 0; i < 1000; ++i) {
    const int64_t id = b.inputs.at(0).as<int64_t>()[i];
    in_range = in_range && id >= 0 && id < 5;
    last = last || id == 4;
  }
  EXPECT_TRUE(in_range);
  EXPECT_TRUE(last);
}

TEST(Problems, BlockedImagesHaveReordersAroundThem) {
  const std::string line = "Add 1x16x4x4 1x16x1x1 layout=nchw16c";
  EXPECT_EQ(ops(built(line, true).graph), (std::vector<std::string>{"Add"}))
      << "as references want";
  const BuiltProblem b = built(line);
  ASSERT_EQ(ops(b.graph), (std::vector<std::string>{"Reorder", "Add", "Reorder"}));
  const Node& add = b.graph.main.nodes[1];
  EXPECT_EQ(b.graph.value(add.inputs[0]).layout, Layout::kNchw16c);
  EXPECT_EQ(b.graph.value(add.inputs[1]).layout, Layout::kPlain) << "one value a channel";
  EXPECT_EQ(b.graph.value(add.outputs[0]).layout, Layout::kNchw16c);
  EXPECT_EQ(b.graph.value(b.graph.main.outputs[0]).layout, Layout::kPlain);
  EXPECT_EQ(ops(built("hasten::Reorder 1x16x4x4 to=plain").graph),
            (std::vector<std::string>{"Reorder", "Reorder"}));
}

}  // namespace
}  // namespace hasten::test
