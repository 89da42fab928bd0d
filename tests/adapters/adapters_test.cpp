// The peers behind the Engine interface; skipped where a peer isn't there.
#include "engine/adapters/adapters.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/adapters/tiny_onnx.h"

namespace hasten {
namespace {

using test::TempDir;
using test::TinyOnnx;

using Open = Result<std::unique_ptr<Engine>> (*)(Context&, const std::string&,
                                                 const EngineOptions&);

struct Peer {
  const char* name;
  Open open;
};

class Adapters : public testing::TestWithParam<Peer> {
 protected:
  Result<std::unique_ptr<Engine>> open(const std::string& path, const EngineOptions& options = {}) {
    return GetParam().open(*context_, path, options);
  }
  /// True where the peer is there.
  bool available() {
    const std::string path = dir_.write("probe.onnx", test::relu_gemm_model());
    return open(path).has_value();
  }
  TempDir dir_;
  std::unique_ptr<Context> context_ = std::move(*Context::make());
};

#define HASTEN_NEEDS_PEER() \
  if (!available()) GTEST_SKIP() << GetParam().name << " is not here: tools/setup brings it"

TEST_P(Adapters, RunsAModelOnInputsOfSeveralShapes) {
  HASTEN_NEEDS_PEER();
  auto engine = open(dir_.write("m.onnx", test::relu_gemm_model()));
  ASSERT_TRUE(engine) << engine.error().message;
  ASSERT_EQ((*engine)->inputs().size(), 1u);
  EXPECT_EQ((*engine)->inputs()[0].name, "x");
  EXPECT_EQ((*engine)->inputs()[0].dtype, DType::kF32);
  ASSERT_EQ((*engine)->inputs()[0].shape.size(), 2u);
  EXPECT_FALSE((*engine)->inputs()[0].shape[0].known());
  EXPECT_EQ((*engine)->outputs()[0].name, "y");
  EXPECT_TRUE((*engine)->version().starts_with(std::string(GetParam().name) + " "))
      << (*engine)->version();
  EXPECT_GE((*engine)->threads(), 1);

  auto runner = (*engine)->make_runner();
  ASSERT_TRUE(runner) << runner.error().message;
  EXPECT_FALSE((*runner)->run()) << "nothing is bound";
  std::vector<float> x = {1, 2, 3, 4};
  for (int64_t batch : {1, 2}) {
    const TensorView view{DType::kF32, {batch, 2}, x.data(), Layout::kPlain};
    auto bound = (*runner)->bind({&view, 1});
    ASSERT_TRUE(bound) << bound.error().message;
    auto ran = (*runner)->run();
    ASSERT_TRUE(ran) << ran.error().message;
    const TensorView& y = (*runner)->outputs()[0];
    EXPECT_EQ(y.dims, (Dims{batch, 2}));
    // {1,2} * {{1,-1},{2,3}} + {.5,-.5}
    EXPECT_FLOAT_EQ(y.as<float>()[0], 5.5F);
    EXPECT_FLOAT_EQ(y.as<float>()[1], 4.5F);
    if (batch == 2) {
      EXPECT_FLOAT_EQ(y.as<float>()[2], 11.5F);
    }
  }
}

TEST_P(Adapters, ReadsBoundMemoryInPlaceAtEachRun) {
  HASTEN_NEEDS_PEER();
  auto engine = open(dir_.write("m.onnx", test::relu_gemm_model()));
  ASSERT_TRUE(engine) << engine.error().message;
  auto runner = (*engine)->make_runner();
  ASSERT_TRUE(runner);
  std::vector<float> x = {0, 0};
  const TensorView view{DType::kF32, {1, 2}, x.data(), Layout::kPlain};
  ASSERT_TRUE((*runner)->bind({&view, 1}));
  ASSERT_TRUE((*runner)->run());
  EXPECT_FLOAT_EQ((*runner)->outputs()[0].as<float>()[0], 0.5F);
  x[0] = 7;
  ASSERT_TRUE((*runner)->run());
  EXPECT_FLOAT_EQ((*runner)->outputs()[0].as<float>()[0], 7.5F);
}

TEST_P(Adapters, RefusesInputsThatDoNotFit) {
  HASTEN_NEEDS_PEER();
  auto engine = open(dir_.write("m.onnx", test::relu_gemm_model()));
  ASSERT_TRUE(engine);
  auto runner = (*engine)->make_runner();
  ASSERT_TRUE(runner);
  std::vector<float> x(6);
  auto message = [&](DType dtype, Dims dims) {
    const TensorView view{dtype, std::move(dims), x.data(), Layout::kPlain};
    auto bound = (*runner)->bind({&view, 1});
    return bound ? "" : bound.error().message;
  };
  EXPECT_EQ(message(DType::kI32, {1, 2}), "input 'x': the model wants f32, got i32");
  EXPECT_NE(message(DType::kF32, {1, 3}).find("got [1,3]"), std::string::npos);
  EXPECT_NE(message(DType::kF32, {2}).find("got [2]"), std::string::npos);
  EXPECT_FALSE((*runner)->bind({}));
}

TEST_P(Adapters, BadFilesAreErrors) {
  HASTEN_NEEDS_PEER();
  auto missing = open(dir_.file("none.onnx"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kIo);
  auto garbage = open(dir_.write("bad.onnx", "this is not a model"));
  ASSERT_FALSE(garbage);
  EXPECT_EQ(garbage.error().code, Code::kInvalidModel);
  EXPECT_EQ(garbage.error().message.find('\n'), std::string::npos);
}

TEST_P(Adapters, RefusesUnknownOptionsByName) {
  HASTEN_NEEDS_PEER();
  EngineOptions options;
  options.extra["no_such_option"] = "1";
  auto engine = open(dir_.file("probe.onnx"), options);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, Code::kInvalidArgument);
  EXPECT_NE(engine.error().message.find("no_such_option"), std::string::npos);
}

TEST_P(Adapters, TakesThreadsAndShapes) {
  HASTEN_NEEDS_PEER();
  EngineOptions options;
  options.threads = 1;
  options.shapes["x"] = {Dim(3), Dim(2)};
  auto engine = open(dir_.file("probe.onnx"), options);
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->threads(), 1);
  EXPECT_EQ((*engine)->inputs()[0].shape, (Shape{Dim(3), Dim(2)}));
  options.shapes = {{"nope", {Dim(1)}}};
  EXPECT_FALSE(open(dir_.file("probe.onnx"), options));
}

TEST_P(Adapters, PrecisionInt8IsRefused) {
  HASTEN_NEEDS_PEER();
  EngineOptions options;
  options.precision = Precision::kInt8;
  auto engine = open(dir_.file("probe.onnx"), options);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, Code::kUnsupported);
}

TEST_P(Adapters, ZeroSizeTensorsPass) {
  HASTEN_NEEDS_PEER();
  auto engine = open(dir_.file("probe.onnx"));
  ASSERT_TRUE(engine);
  auto runner = (*engine)->make_runner();
  ASSERT_TRUE(runner);
  const TensorView view{DType::kF32, {0, 2}, nullptr, Layout::kPlain};
  ASSERT_TRUE((*runner)->bind({&view, 1}));
  auto ran = (*runner)->run();
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ((*runner)->outputs()[0].dims, (Dims{0, 2}));
}

INSTANTIATE_TEST_SUITE_P(Peers, Adapters,
                         testing::Values(Peer{"onnxruntime", open_onnxruntime},
                                         Peer{"openvino", open_openvino}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace hasten
