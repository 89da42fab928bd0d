#include "cli/target.h"

#include <gtest/gtest.h>

#include "tests/adapters/tiny_onnx.h"

namespace hasten {
namespace {

using test::TempDir;

std::string error_of(std::string_view text) {
  auto target = parse_target(text);
  return target ? "" : target.error().message;
}

TEST(Target, AModelAlone) {
  auto t = parse_target("m.onnx");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(t->model, "m.onnx");
  EXPECT_EQ(t->options.kind, EngineKind::kNative);
  EXPECT_EQ(options_text(t->options), "engine=native");
}

TEST(Target, EveryKey) {
  auto t = parse_target(
      "a/"
      "m.onnx@threads=2,engine=onnxruntime,precision=fp32,math=exact,shape=x:1x3x?x224,shape=in:0:"
      "4,"
      "graph_optimization_level=basic");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(t->model, "a/m.onnx");
  EXPECT_EQ(t->options.kind, EngineKind::kOnnxRuntime);
  EXPECT_EQ(t->options.threads, 2);
  EXPECT_EQ(t->options.precision, Precision::kFp32);
  EXPECT_EQ(t->options.math, MathMode::kExact);
  ASSERT_EQ(t->options.shapes.size(), 2u);
  EXPECT_EQ(t->options.shapes["x"][3], Dim(224));
  EXPECT_FALSE(t->options.shapes["x"][2].known());
  EXPECT_EQ(t->options.shapes["in:0"], (Shape{Dim(4)}));
  EXPECT_EQ(t->options.extra["graph_optimization_level"], "basic");
}

TEST(Target, OptionsGoToTextAndBack) {
  const std::string text =
      "engine=openvino,threads=2,precision=bf16,math=exact,shape=x:1x?,NUM_STREAMS=1";
  auto t = parse_target("m.onnx@" + text);
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(options_text(t->options), text);
  auto native =
      parse_target("m.onnx@disable_pass=a,disable_pass=b,passes=off,reference=on,spin=always");
  ASSERT_TRUE(native) << native.error().message;
  EXPECT_EQ(options_text(native->options),
            "engine=native,spin=always,disable_pass=a,disable_pass=b,passes=off,reference=on");
}

TEST(Target, UnknownKeysListTheKeys) {
  const std::string message = error_of("m.onnx@color=red");
  EXPECT_NE(message.find("unknown key 'color'"), std::string::npos) << message;
  EXPECT_NE(message.find("engine=native|onnxruntime|openvino, threads=N"), std::string::npos)
      << message;
}

TEST(Target, BadValuesSayWhatIsWanted) {
  EXPECT_EQ(error_of("m@engine=tensorrt"), "engine=tensorrt: want native|onnxruntime|openvino");
  EXPECT_EQ(error_of("m@threads=0"), "threads=0: want a number from 1 to 1024");
  EXPECT_EQ(error_of("m@threads=2x"), "threads=2x: want a number from 1 to 1024");
  EXPECT_EQ(error_of("m@precision=fp64"), "precision=fp64: want fp32|bf16");
  EXPECT_EQ(error_of("m@math=wrong"), "math=wrong: want fast|exact");
  EXPECT_EQ(error_of("m@shape=1x3"), "shape=1x3: want NAME:1x3x224x224");
  EXPECT_NE(error_of("m@shape=x:1xbx3").find("'b' is not a dim"), std::string::npos);
  EXPECT_NE(error_of("m@shape=x:1x-3").find("'-3' is not a dim"), std::string::npos);
  EXPECT_NE(error_of("m@threads=1,fast").find("'fast' is not key=value"), std::string::npos);
  EXPECT_NE(error_of("m.onnx@native").find("'native' is not key=value"), std::string::npos);
  EXPECT_NE(error_of("@threads=1").find("names no model"), std::string::npos);
  EXPECT_NE(error_of("").find("names no model"), std::string::npos);
}

TEST(Target, AtSignsInPaths) {
  auto t = parse_target("models@v2/m.onnx@threads=1");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(t->model, "models@v2/m.onnx");
  TempDir dir;
  const std::string odd = dir.write("m@threads=1", "x");
  t = parse_target(odd);
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(t->model, odd);
}

TEST(Target, BundlesResolveToWhatTheyChose) {
  TempDir dir;
  dir.write("bundle.json", R"({"schema": 1, "target": "model.onnx@engine=onnxruntime,threads=2"})");
  auto t = parse_target(dir.path() + "/");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(t->bundle, dir.path());
  EXPECT_EQ(t->model, dir.path() + "/model.onnx");
  EXPECT_EQ(options_text(t->options), "engine=onnxruntime,threads=2");
  t = parse_target(dir.path() + "@threads=1");
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(options_text(t->options), "engine=onnxruntime,threads=1");
}

TEST(Target, BadBundlesAreErrors) {
  TempDir dir;
  EXPECT_NE(error_of(dir.path()).find("without a bundle.json"), std::string::npos);
  dir.write("bundle.json", "{");
  EXPECT_NE(error_of(dir.path()).find("is not a bundle.json"), std::string::npos);
  dir.write("bundle.json", R"({"target": "../m.onnx"})");
  EXPECT_NE(error_of(dir.path()).find("must name a file of the bundle"), std::string::npos);
  dir.write("bundle.json", R"({"target": "/etc/passwd"})");
  EXPECT_NE(error_of(dir.path()).find("must name a file of the bundle"), std::string::npos);
}

}  // namespace
}  // namespace hasten
