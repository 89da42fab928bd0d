// All passes together, on graphs that optimizers are known to have got wrong.
#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

constexpr float kInf = INFINITY;
const std::string kHead = "graph \"g\" opset {\"\": 17}\n";
Tensor vec(Dims dims, std::vector<float> v) { return Tensor::floats(std::move(dims), v); }

TEST(Pipeline, NamesOfPassesAreChecked) {
  auto graph = read_graph(kHead + "in %x: f32[1]\n%y = Relu(%x)\nout %y\n");
  ASSERT_TRUE(graph);
  PassContext context = pass_context();
  auto reports = run_passes(*graph, context, {"fuse_everything"});
  ASSERT_FALSE(reports);
  EXPECT_NE(reports.error().message.find("no pass is called 'fuse_everything'; there are: fold"),
            std::string::npos)
      << reports.error().message;
}

TEST(Pipeline, DisabledPassesDoNotRun) {
  auto graph = read_graph(kHead + "in %x: f32[1]\n%i = Identity(%x)\n%y = Relu(%i)\nout %y\n");
  ASSERT_TRUE(graph);
  PassContext context = pass_context();
  auto reports = run_passes(*graph, context, {"remove_identities"});
  ASSERT_TRUE(reports) << reports.error().message;
  EXPECT_EQ(reports->size(), all_passes().size() - 1);
  EXPECT_EQ(graph->main.nodes.size(), 2u);
}

// Found by fuzz_onnx_load: passes go by the names of operators, here one of an opset without it.
TEST(Pipeline, NodesWithoutOperatorAreRefusedBefore) {
  for (const std::string& node : {std::string("%y = Div(_, %x)"), std::string("%y = Cast(%x)")}) {
    auto graph = parse_graph("graph \"g\" opset {\"\": 1}\nin %x: f32[1]\n" + node + "\nout %y\n");
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_TRUE(bind_graph(*graph));
    auto context = Context::make();
    ASSERT_TRUE(context);
    auto engine = NativeEngine::compile(**context, std::move(*graph), {});
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().code, Code::kUnsupported);
    EXPECT_NE(engine.error().message.find("of opset 1 is not supported"), std::string::npos)
        << engine.error().message;
  }
}

// Each of these is the start of a form that some pass looks for.
TEST(Pipeline, NodesWithoutOutputs) {
  for (const std::string& pass : {std::string(), std::string("remove_dead")}) {
    auto graph = read_graph(kHead +
                            "const %o: f32[1] = {1}\nconst %w: f32[2,2] = {1, 2, 3, 4}\n"
                            "in %x: f32[2,2]\n_ = Mul(%x, %o)\n_ = Sub(%x, %o)\n"
                            "%s = Sigmoid(%x)\n_ = Mul(%x, %s)\n%p = MatMul(%x, %w)\n"
                            "_ = Add(%p, %o)\n%y = Relu(%x)\nout %y\n");
    ASSERT_TRUE(graph) << graph.error().message;
    PassContext context = pass_context();
    std::set<std::string> disabled;
    if (!pass.empty()) disabled.insert(pass);
    auto reports = run_passes(*graph, context, disabled);
    ASSERT_TRUE(reports) << reports.error().message;
    if (pass.empty()) {
      EXPECT_EQ(graph->main.nodes.size(), 1u);
    }
  }
}

// microsoft/onnxruntime #32416, #32413
TEST(Pipeline, BroadcastingOnesAndZerosKeepTheShape) {
  const auto mul = expect_same_answer(
      kHead + "const %o: f32[1,3] = {1, 1, 1}\nin %x: f32[2,1]\n%y = Mul(%x, %o)\nout %y\n",
      {vec({2, 1}, {4, 5})});
  EXPECT_EQ(mul[0].dims(), (Dims{2, 3}));
  const auto add = expect_same_answer(
      kHead + "const %z: f32[1,1,3] = {0, 0, 0}\nin %x: f32[3]\n%y = Add(%x, %z)\nout %y\n",
      {vec({3}, {1, 2, 3})});
  EXPECT_EQ(add[0].dims(), (Dims{1, 1, 3}));
}

TEST(Pipeline, NaNsAndInfinitiesStay) {
  const Tensor x = vec({4}, {kInf, -kInf, NAN, 2});
  const auto sub =
      elements(expect_same_answer(kHead + "in %x: f32[4]\n%y = Sub(%x, %x)\nout %y\n", {x})[0]);
  EXPECT_TRUE(std::isnan(sub[0]) && std::isnan(sub[1]) && std::isnan(sub[2]) && sub[3] == 0);
  const auto mul = elements(expect_same_answer(
      kHead + "const %z: f32[] = {0}\nin %x: f32[4]\n%y = Mul(%z, %x)\nout %y\n", {x})[0]);
  EXPECT_TRUE(std::isnan(mul[0]) && std::isnan(mul[1]) && std::isnan(mul[2]) && mul[3] == 0);
}

TEST(Pipeline, MinusZeroStays) {
  const auto y = elements(
      expect_same_answer(kHead + "const %z: f32[] = {0}\nin %x: f32[1]\n%y = Add(%x, %z)\nout %y\n",
                         {vec({1}, {-0.0f})})[0]);
  EXPECT_FALSE(std::signbit(y[0]));
}

// onnx/onnx #8203: the scale is longer than the last dim of x.
TEST(Pipeline, NormalizationWhoseScaleBroadcasts) {
  const auto y = expect_same_answer(kHead +
                                        "const %two: f32[] = {2}\nconst %eps: f32[] = {1e-05}\n"
                                        "const %scale: f32[2] = {1, 2}\nin %x: f32[1,1]\n"
                                        "%p = Pow(%x, %two)\n%v = ReduceMean(%p) {axes=[-1]}\n"
                                        "%e = Add(%v, %eps)\n%s = Sqrt(%e)\n%n = Div(%x, %s)\n"
                                        "%y = Mul(%n, %scale)\nout %y\n",
                                    {vec({1, 1}, {3})});
  EXPECT_EQ(y[0].dims(), (Dims{1, 2}));
  EXPECT_NEAR(elements(y[0])[0], 0.9999995, 1e-6);
  EXPECT_NEAR(elements(y[0])[1], 1.9999989, 1e-6);
}

// microsoft/onnxruntime #12498
TEST(Pipeline, GroupedConvolutionPlusAConstantOfTheWholeOutput) {
  const auto y = expect_same_answer(
      kHead +
          "const %w: f32[4,2,1,1] = {0, 1, 2, 3, 4, 5, 6, 7}\n"
          "const %c: f32[1,4,1,2] = {0, 100, 200, 300, 400, 500, 600, 700}\n"
          "in %x: f32[1,4,1,2]\n%p = Conv(%x, %w) {group=2}\n%y = Add(%p, %c)\nout %y\n",
      {vec({1, 4, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7})});
  EXPECT_EQ(elements(y[0]), (std::vector<float>{2, 103, 206, 311, 446, 555, 666, 779}));
}

// onnx/optimizer #255
TEST(Pipeline, ConvolutionWhoseResultIsAnOutputToo) {
  const auto y = expect_same_answer(
      kHead +
          "const %w: f32[1,1,1] = {3}\nconst %s: f32[1] = {2}\nconst %b: f32[1] = {1}\n"
          "const %m: f32[1] = {3}\nconst %v: f32[1] = {4}\nin %x: f32[1,1,2]\n"
          "%c = Conv(%x, %w)\n%y = BatchNormalization(%c, %s, %b, %m, %v) {epsilon=0.0}\n"
          "out %c, %y\n",
      {vec({1, 1, 2}, {1, 2})});
  EXPECT_EQ(elements(y[0]), (std::vector<float>{3, 6}));
  EXPECT_EQ(elements(y[1]), (std::vector<float>{1, 4}));
}

TEST(Pipeline, ProductsThatShareWeights) {
  const auto y = expect_same_answer(
      kHead +
          "const %w: f32[2,2] = {1, 2, 3, 4}\nconst %k: f32[2] = {2, 10}\nin %x: f32[1,2]\n"
          "%a = MatMul(%x, %w)\n%b = MatMul(%x, %w)\n%m = Mul(%b, %k)\n%y = Sub(%m, %a)\n"
          "out %y\n",
      {vec({1, 2}, {1, 1})});
  EXPECT_EQ(elements(y[0]), (std::vector<float>{4, 54}));
}

// Rewrites look into branches, and see what branches read.
TEST(Pipeline, Branches) {
  const std::string text =
      kHead +
      "const %w: f32[2,2] = {1, 2, 3, 4}\nconst %b: f32[2] = {10, 20}\n"
      "in %c: bool[]\nin %x: f32[1,2]\n%p = MatMul(%x, %w)\n%q = Add(%p, %b)\n"
      "%y = If(%c) \"if\"\n  then_branch:\n    %t = MatMul(%x, %w)\n    %u = Add(%t, %b)\n"
      "    out %u\n  else_branch:\n    out %p\n%z = Add(%y, %q)\nout %z\n";
  for (const bool choice : {true, false}) {
    Tensor c = *Tensor::make(DType::kBool, {});
    *c.mutable_as<bool>() = choice;
    const auto y = expect_same_answer(text, {c, vec({1, 2}, {1, 1})});
    EXPECT_EQ(elements(y[0]), choice ? (std::vector<float>{28, 52}) : (std::vector<float>{18, 32}));
  }
}

}  // namespace
}  // namespace hasten::test
