// The rewrites of convolutions: where they fire, where they must not, and that answers stay.
#include <gtest/gtest.h>

#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "engine/passes/pass.h"
#include "engine/plan/evaluate.h"

namespace hasten {
namespace {

constexpr const char* kHead =
    "graph \"g\" opset {\"\": 17}\n"
    "const %w: f32[2,1,1,1] = {3, 5}\n"
    "const %t: f32[1,2,1,1] = {3, 5}\n"
    "const %k: f32[2,1,1] = {2, 4}\n"
    "const %zero: f32[1] = {0}\n"
    "const %low: f32[] = {-1}\n"
    "const %high: f32[] = {7}\n"
    "in %x: f32[1,1,2,2]\n";

/// The graph after one pass.
std::string after(const std::string& pass_name, const std::string& text) {
  auto graph = parse_graph(text);
  if (!graph) return graph.error().message;
  if (Status ok = bind_graph(*graph); !ok) return ok.error().message;
  PassContext context;
  context.evaluate = [](const Node& node, std::span<const Tensor> inputs) {
    return evaluate_node(node, inputs);
  };
  if (Status ok = infer_graph(*graph, context.evaluate); !ok) return ok.error().message;
  for (const Pass& pass : all_passes()) {
    if (pass_name != pass.name) continue;
    auto changes = pass.run(*graph, context);
    if (!changes) return changes.error().message;
  }
  if (Status ok = verify(*graph); !ok) return ok.error().message;
  std::string ops;
  for (const Node& node : graph->main.nodes) {
    ops += fmt::format("{}{}{} ", node.domain, node.domain.empty() ? "" : ".", node.op);
  }
  return ops;
}

/// The first output of the whole engine, with and without passes, on x = 1 2 3 4.
std::vector<float> answer(const std::string& text, bool passes) {
  auto context = Context::make();
  auto graph = parse_graph(text);
  if (!context || !graph || !bind_graph(*graph)) return {};
  EngineOptions options;
  options.enable_passes = passes;
  options.threads = 1;
  auto engine = NativeEngine::compile(**context, std::move(*graph), options);
  EXPECT_TRUE(engine) << (engine ? "" : engine.error().message);
  if (!engine) return {};
  auto runner = (*engine)->make_runner();
  const float x[] = {1, 2, 3, 4};
  const TensorView view{DType::kF32, {1, 1, 2, 2}, x, Layout::kPlain};
  Status ok = (*runner)->bind(std::span(&view, 1));
  if (ok) ok = (*runner)->run();
  EXPECT_TRUE(ok) << (ok ? "" : ok.error().message);
  if (!ok) return {};
  const TensorView& y = (*runner)->outputs()[0];
  return {y.as<float>(), y.as<float>() + y.count()};
}

TEST(FuseConvScale, FoldsWhatScalesChannels) {
  const std::string text = std::string(kHead) +
                           "%c = Conv(%x, %w)\n"
                           "%y = Mul(%k, %c)\n"
                           "out %y\n";
  EXPECT_EQ(after("fuse_conv_scale", text), "Conv ");
  EXPECT_EQ(answer(text, true), (std::vector<float>{6, 12, 18, 24, 20, 40, 60, 80}));
  EXPECT_EQ(answer(text, true), answer(text, false));
}

TEST(FuseConvScale, OfTransposedConvolutions) {
  const std::string text = std::string(kHead) +
                           "%c = ConvTranspose(%x, %t)\n"
                           "%m = Mul(%k, %c)\n"
                           "%y = Relu(%m)\n"
                           "out %y\n";
  EXPECT_EQ(after("fuse_conv_scale", text), "ConvTranspose Relu ");
  EXPECT_EQ(answer(text, true), (std::vector<float>{6, 12, 18, 24, 20, 40, 60, 80}));
  const std::string depthwise = std::string(kHead) +
                                "%c = Concat(%x, %x) {axis=1}\n"
                                "%e = ConvTranspose(%c, %w) {group=2}\n"
                                "%y = Mul(%k, %e)\n"
                                "out %y\n";
  EXPECT_EQ(after("fuse_conv_scale", depthwise), "Concat ConvTranspose ");
  EXPECT_EQ(answer(depthwise, true), (std::vector<float>{6, 12, 18, 24, 20, 40, 60, 80}));
}

TEST(FuseConvScale, LeavesWhatOthersRead) {
  EXPECT_EQ(after("fuse_conv_scale", std::string(kHead) + "%c = Conv(%x, %w)\n"
                                                          "%y = Mul(%c, %k)\n"
                                                          "out %y, %c\n"),
            "Conv Mul ");
  EXPECT_EQ(after("fuse_conv_scale", std::string(kHead) + "%c = Conv(%x, %w)\n"
                                                          "%y = Mul(%c, %k)\n"
                                                          "%z = Add(%c, %y)\n"
                                                          "out %z\n"),
            "Conv Mul Add ");
}

TEST(FuseConvScale, TwoConvolutionsThatShareWeights) {
  const std::string text = std::string(kHead) +
                           "%a = Conv(%x, %w)\n"
                           "%b = Conv(%x, %w)\n"
                           "%m = Mul(%b, %k)\n"
                           "%y = Sub(%m, %a)\n"
                           "out %y\n";
  EXPECT_EQ(after("fuse_conv_scale", text), "Conv Conv Sub ");
  EXPECT_EQ(answer(text, true), (std::vector<float>{3, 6, 9, 12, 15, 30, 45, 60}));
}

TEST(FuseConvScale, LeavesDivisionByZero) {
  EXPECT_EQ(after("fuse_conv_scale", std::string(kHead) + "%c = Conv(%x, %w)\n"
                                                          "%y = Div(%c, %zero)\n"
                                                          "out %y\n"),
            "Conv Div ");
}

TEST(FuseConvAdd, AddsOnlyWhatHasItsShape) {
  EXPECT_EQ(after("fuse_conv_add", std::string(kHead) + "in %r: f32[1,2,2,2]\n"
                                                        "%c = Conv(%x, %w)\n"
                                                        "%y = Add(%r, %c)\n"
                                                        "out %y\n"),
            "hasten.Conv ");
  EXPECT_EQ(after("fuse_conv_add", std::string(kHead) + "in %r: f32[1,2,1,2]\n"
                                                        "%c = Conv(%x, %w)\n"
                                                        "%y = Add(%r, %c)\n"
                                                        "out %y\n"),
            "Conv Add ");
}

TEST(FuseConvActivation, AppliesIt) {
  const std::string text = std::string(kHead) +
                           "%c = Conv(%x, %w)\n"
                           "%y = Clip(%c, %low, %high)\n"
                           "out %y\n";
  EXPECT_EQ(after("fuse_conv_activation", text), "hasten.Conv ");
  EXPECT_EQ(answer(text, true), (std::vector<float>{3, 6, 7, 7, 5, 7, 7, 7}));
  EXPECT_EQ(answer(text, true), answer(text, false));
}

TEST(FuseConvAffine, ScalesAndShiftsWhatWasActivated) {
  const std::string head = std::string(kHead);
  const auto text = [&](const char* activation, const char* between) {
    return head + fmt::format("%c = Conv(%x, %w)\n%r = {}(%c)\n%m = Mul(%high, %r)\n{}", activation,
                              between);
  };
  const std::string relu = text("Relu", "%y = Add(%m, %low)\nout %y\n");
  EXPECT_EQ(answer(relu, true), (std::vector<float>{20, 41, 62, 83, 34, 69, 104, 139}));
  EXPECT_EQ(answer(relu, true), answer(relu, false));
  const std::string swish = text("HardSwish", "%y = Add(%low, %m)\nout %y\n");
  EXPECT_EQ(answer(swish, true), answer(swish, false));
  // One activation name per form, and nothing where others read on the way.
  const std::string fused =
      "%c = hasten::Conv@1(%x, %w) {activation=\"relu\"}\n%m = Mul(%c, %high)\n";
  EXPECT_EQ(after("fuse_conv_affine", head + fused + "%y = Add(%m, %low)\nout %y\n"),
            "hasten.Conv ");
  EXPECT_EQ(after("fuse_conv_affine", head + fused + "%y = Add(%m, %low)\nout %y, %m\n"),
            "hasten.Conv Mul Add ");
  EXPECT_EQ(after("fuse_conv_affine", head + fused + "%y = Add(%m, %k)\nout %y\n"),
            "hasten.Conv Mul Add ");
}

TEST(PlaceLayouts, ReordersOnceAndOnlyAtTheBorders) {
  EXPECT_EQ(after("place_layouts",
                  "graph \"g\" opset {\"\": 17}\n"
                  "const %w: f32[16,1,1,1] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}\n"
                  "in %x: f32[1,1,2,2]\n"
                  "%c = Conv(%x, %w)\n"
                  "%r = Relu(%c)\n"
                  "%s = Sigmoid(%r)\n"
                  "%t = Transpose(%r) {perm=[0,2,3,1]}\n"
                  "out %t, %s\n"),
            "Conv Relu Sigmoid hasten.Reorder Transpose hasten.Reorder ");
}

}  // namespace
}  // namespace hasten
