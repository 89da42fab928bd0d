// Cases from public bug reports of other engines, with their right values. Each stands for a kind.
// Run as the file says on the references, and through all passes on the kernels of every tier.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "engine/ops/numbers.h"

namespace hasten::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor f32(Dims dims, std::vector<float> v) { return Tensor::floats(std::move(dims), v); }
Tensor i64(Dims dims, std::vector<int64_t> v) { return Tensor::ints(std::move(dims), v); }
template <class T>
Tensor of(DType dtype, Dims dims, std::vector<T> v) {
  return Tensor::of<T>(dtype, std::move(dims), v);
}

/// 0, 1, 2 … times `step`.
std::vector<float> counting(int n, float step = 1, float first = 0) {
  std::vector<float> v;
  for (int i = 0; i < n; ++i) v.push_back(first + step * static_cast<float>(i));
  return v;
}

Result<std::vector<Tensor>> answer(int opset, const std::string& text,
                                   const std::vector<Tensor>& inputs,
                                   const EngineOptions& options) {
  HASTEN_TRY(const auto context, Context::make());
  HASTEN_TRY(Graph graph,
             parse_graph(fmt::format("graph \"g\" opset {{\"\": {}}}\n{}", opset, text)));
  HASTEN_CHECK(bind_graph(graph));
  HASTEN_TRY(const auto engine, NativeEngine::compile(*context, std::move(graph), options));
  HASTEN_TRY(const auto runner, engine->make_runner());
  std::vector<TensorView> views;
  for (const Tensor& t : inputs) views.push_back(t.view());
  HASTEN_CHECK(runner->bind(views));
  HASTEN_CHECK(runner->run());
  std::vector<Tensor> out;
  for (const TensorView& v : runner->outputs()) {
    HASTEN_TRY(out.emplace_back(), Tensor::copy(v));
  }
  return out;
}

/// Calls check(way, answer) for every way to run.
template <class F>
void each_way(int opset, const std::string& text, const std::vector<Tensor>& inputs, F&& check) {
  EngineOptions reference;
  reference.reference_only = true;
  reference.enable_passes = false;
  check("reference", answer(opset, text, inputs, reference));
  const char* old = std::getenv("HASTEN_ISA");
  const std::string saved = old ? old : "";
  for (const Isa isa : supported_isas()) {
    ::setenv("HASTEN_ISA", isa_name(isa), 1);
    check(isa_name(isa), answer(opset, text, inputs, {}));
  }
  old ? ::setenv("HASTEN_ISA", saved.c_str(), 1) : ::unsetenv("HASTEN_ISA");
}

double element(const Tensor& t, int64_t i) {
  double value = 0;
  if (t.dtype() == DType::kBool) return t.as<bool>()[i] ? 1 : 0;
  dispatch_number(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    value = static_cast<double>(Compute<T>::load(t.as<T>()[i]));
  });
  return value;
}

/// Output 0 has these dims and elements, every way.
void expect(int opset, const std::string& text, const std::vector<Tensor>& inputs, const Dims& dims,
            const std::vector<double>& want, double tolerance = 1e-5) {
  each_way(opset, text, inputs, [&](const char* way, const Result<std::vector<Tensor>>& got) {
    ASSERT_TRUE(got) << way << ": " << got.error().message;
    const Tensor& t = got->at(0);
    EXPECT_EQ(dims_text(t.dims()), dims_text(dims)) << way;
    ASSERT_EQ(t.count(), static_cast<int64_t>(want.size())) << way;
    for (size_t i = 0; i < want.size(); ++i) {
      const double x = element(t, static_cast<int64_t>(i));
      const bool same = (std::isnan(x) && std::isnan(want[i])) || x == want[i] ||
                        std::abs(x - want[i]) <= tolerance * std::max(1.0, std::abs(want[i]));
      EXPECT_TRUE(same) << way << ": element " << i << " is " << x << ", wanted " << want[i];
    }
  });
}

/// An error that says this, every way.
void expect_error(int opset, const std::string& text, const std::vector<Tensor>& inputs,
                  const std::string& part) {
  each_way(opset, text, inputs, [&](const char* way, const Result<std::vector<Tensor>>& got) {
    ASSERT_FALSE(got) << way << " runs";
    EXPECT_NE(got.error().message.find(part), std::string::npos)
        << way << ": " << got.error().message;
  });
}

TEST(Bank, M1AutoPadWithStride) {
  const auto conv = [](const std::string& pad) {
    return "const %w: f32[1,1,3] = {1, 10, 100}\nin %x: f32[1,1,6]\n%y = Conv(%x, %w) "
           "{auto_pad=\"" +
           pad + "\", strides=[2]}\nout %y\n";
  };
  const Tensor x = f32({1, 1, 6}, {1, 2, 3, 4, 5, 6});
  expect(11, conv("SAME_UPPER"), {x}, {1, 1, 3}, {321, 543, 65});
  expect(11, conv("SAME_LOWER"), {x}, {1, 1, 3}, {210, 432, 654});
  const auto transposed = [](const std::string& pad) {
    return "const %w: f32[1,1,1,3] = {1, 10, 100}\nin %x: f32[1,1,1,4]\n%y = ConvTranspose(%x, %w)"
           " {auto_pad=\"" +
           pad + "\", strides=[1,2]}\nout %y\n";
  };
  const Tensor z = f32({1, 1, 1, 4}, {1, 2, 3, 4});
  expect(11, transposed("SAME_UPPER"), {z}, {1, 1, 1, 8}, {1, 10, 102, 20, 203, 30, 304, 40});
  expect(11, transposed("SAME_LOWER"), {z}, {1, 1, 1, 8}, {10, 102, 20, 203, 30, 304, 40, 400});
  expect(11,
         "const %w: f32[1,1,3,3] = {2, 3, 4, 5, 6, 7, 8, 9, 10}\nin %x: f32[1,1,2,2]\n"
         "%y = ConvTranspose(%x, %w) {auto_pad=\"SAME_UPPER\"}\nout %y\n",
         {f32({1, 1, 2, 2}, {2, 3, 4, 5})}, {1, 1, 2, 2}, {49, 63, 91, 105});
}

TEST(InPlace, AResidualThatIsTheInputStaysWhole) {
  // 3x3 ones over ones: 4 in the corners, 6 at the edges, 9 inside; plus the input.
  const std::vector<double> want = {5, 7, 5, 7, 10, 7, 5, 7, 5};
  expect(13,
         "const %w: f32[1,1,3,3] = {1, 1, 1, 1, 1, 1, 1, 1, 1}\nin %x: f32[1,1,3,3]\n"
         "%r = Relu(%x)\n%c = Conv(%r, %w) {pads=[1,1,1,1]}\n%s = Add(%c, %r)\n%y = Abs(%s)\n"
         "out %y\n",
         {f32({1, 1, 3, 3}, std::vector<float>(9, 1))}, {1, 1, 3, 3}, want);
  expect(13,
         "const %w: f32[2,2] = {0, 1, 1, 0}\nin %x: f32[1,2]\n%r = Relu(%x)\n"
         "%m = MatMul(%r, %w)\n%s = Add(%m, %r)\n%y = Abs(%s)\nout %y\n",
         {f32({1, 2}, {1, 2})}, {1, 2}, {3, 3});
}

TEST(Bank, AResidualMayBeAConstant) {
  // Eight channels, so that the convolution and what is added to it are blocked.
  std::vector<double> want;
  for (int i = 0; i < 16; ++i) want.push_back((i / 2 + 1) * (i % 2 + 1) + 10 * i);
  expect(
      13,
      "const %w: f32[8,1,1,1] = {1, 2, 3, 4, 5, 6, 7, 8}\n"
      "const %r: f32[1,8,1,2] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, "
      "150}\nin %x: f32[1,1,1,2]\n%c = Conv(%x, %w)\n%y = Add(%c, %r)\nout %y\n",
      {f32({1, 1, 1, 2}, {1, 2})}, {1, 8, 1, 2}, want);
}

TEST(Bank, OutputsThatAreLeftOut) {
  expect(13, "in %x: f32[4]\n%q = DynamicQuantizeLinear(%x)\n%y = Identity(%q)\nout %y\n",
         {f32({4}, {0, 1, 2, 255})}, {4}, {0, 1, 2, 255});
}

TEST(Bank, NamesOfAnotherDomainMeanNothing) {
  expect_error(13, "in %x: f32[1,8,2,2]\n%y: f32[1,8,2,2] = mine::Conv@1(%x)\nout %y\n",
               {f32({1, 8, 2, 2}, counting(32))},
               "operator mine::Conv of opset 1 is not supported");
}

TEST(Bank, NothingIsLeftOutOfAList) {
  auto graph = parse_graph(
      "graph \"g\" opset {\"\": 13}\nin %x: f32[2]\n"
      "%y = Max(%x, _, %x) \"m\"\nout %y\n");
  ASSERT_TRUE(graph);
  const Status ok = bind_graph(*graph);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().message, "node 'm' (Max): input 1 is required, but absent");
}

TEST(Bank, NanIsTheMaximumOfItsWindow) {
  expect(13, "in %x: f32[1,1,1,5]\n%y = MaxPool(%x) {kernel_shape=[1,2]}\nout %y\n",
         {f32({1, 1, 1, 5}, {1, kNan, 3, 2, -kInf})}, {1, 1, 1, 4}, {kNan, kNan, 3, 2});
}

TEST(Bank, NanIsNotClippedByRecurrentOperators) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    const int gates = op[0] == 'R' ? 1 : op[0] == 'G' ? 3 : 4;
    const std::string ones = gates == 1 ? "1" : gates == 3 ? "1, 1, 1" : "1, 1, 1, 1";
    expect(14,
           fmt::format("const %w: f32[1,{0},1] = {{{1}}}\nconst %r: f32[1,{0},1] = {{{1}}}\n"
                       "in %x: f32[1,1,1]\n%y = {2}(%x, %w, %r) {{hidden_size=1, clip=1.0}}\n"
                       "out %y\n",
                       gates, ones, op),
           {f32({1, 1, 1}, {kNan})}, {1, 1, 1, 1}, {kNan});
  }
}

TEST(Bank, OutputsCountForTheMemoryLimit) {
  EngineOptions options;
  options.memory_limit = 1 << 20;
  // Padded to 4 million elements; and a range whose length only its elements tell.
  const auto padded = answer(13,
                             "const %p: i64[2] = {0, 4000000}\nin %x: f32[1]\n%y = Pad(%x, %p)\n"
                             "out %y\n",
                             {f32({1}, {1})}, options);
  const auto counted = answer(13,
                              "const %z: i64[] = {0}\nconst %one: i64[] = {1}\nin %n: i64[]\n"
                              "%r = Range(%z, %n, %one)\n%y = Neg(%r)\nout %y\n",
                              {i64({}, {4000000})}, options);
  for (const auto* got : {&padded, &counted}) {
    ASSERT_FALSE(*got);
    EXPECT_NE(got->error().message.find("the limit is 1048576"), std::string::npos)
        << got->error().message;
  }
}

TEST(Bank, M2ResizeTiesAndAxesThatStay) {
  const auto resize = [](const std::string& mode) {
    return "const %none: f32[0] = {}\nconst %sizes: i64[4] = {1, 1, 1, 6}\nin %x: f32[1,1,1,20]\n"
           "%y = Resize(%x, _, %none, %sizes) {mode=\"nearest\", "
           "coordinate_transformation_mode=\"half_pixel\", nearest_mode=\"" +
           mode + "\"}\nout %y\n";
  };
  const Tensor x = f32({1, 1, 1, 20}, counting(20));
  expect(13, resize("round_prefer_ceil"), {x}, {1, 1, 1, 6}, {1, 5, 8, 11, 15, 18});
  expect(13, resize("round_prefer_floor"), {x}, {1, 1, 1, 6}, {1, 4, 8, 11, 14, 18});
  expect(11,
         "const %none: f32[0] = {}\nconst %sizes: i64[4] = {2, 2, 4, 2}\nin %x: f32[2,2,2,1]\n"
         "%r = Resize(%x, %none, %none, %sizes) {mode=\"nearest\", "
         "coordinate_transformation_mode=\"tf_half_pixel_for_nn\", nearest_mode=\"ceil\"}\n"
         "%y = ReduceMax(%r) {axes=[2,3], keepdims=0}\n"
         "out %y\n",
         {f32({2, 2, 2, 1}, counting(8))}, {2, 2}, {1, 3, 5, 7});
  expect(13,
         "const %none: f32[0] = {}\nconst %sizes: i64[4] = {1, 1, 1, 1}\nin %x: f32[1,1,1,4]\n"
         "%y = Resize(%x, _, %none, %sizes) {mode=\"cubic\", "
         "coordinate_transformation_mode=\"pytorch_half_pixel\"}\nout %y\n",
         {f32({1, 1, 1, 4}, {1, 2, 3, 4})}, {1, 1, 1, 1}, {1});
}

TEST(Bank, M4SliceExtremes) {
  constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;
  const auto slice = [](int64_t begin, int64_t end, int64_t step, const std::vector<double>& want) {
    const std::vector<Tensor> inputs = {f32({6}, counting(6)), i64({1}, {begin}), i64({1}, {end}),
                                        i64({1}, {step})};
    // At run time and, as the plan knows them, as constants.
    expect(13,
           "const %a: i64[1] = {0}\nin %x: f32[6]\nin %b: i64[1]\nin %e: i64[1]\nin %s: i64[1]\n"
           "%y = Slice(%x, %b, %e, %a, %s)\nout %y\n",
           inputs, {static_cast<int64_t>(want.size())}, want);
    expect(13,
           fmt::format("const %b: i64[1] = {{{}}}\nconst %e: i64[1] = {{{}}}\n"
                       "const %s: i64[1] = {{{}}}\nconst %a: i64[1] = {{0}}\nin %x: f32[6]\n"
                       "%y = Slice(%x, %b, %e, %a, %s)\nout %y\n",
                       begin, end, step),
           {inputs[0]}, {static_cast<int64_t>(want.size())}, want);
  };
  slice(5, kMin, -2, {5, 3, 1});
  slice(kMax, kMin, -1, {5, 4, 3, 2, 1, 0});
  slice(-1, -100, -2, {5, 3, 1});
  slice(3, 3, 1, {});
  slice(kMin, kMax, 2, {0, 2, 4});
  slice(0, kMax, kMax, {0});
  slice(5, 0, kMin, {5});
  expect_error(
      13,
      "const %a: i64[1] = {0}\nin %x: f32[6]\nin %b: i64[1]\nin %e: i64[1]\nin %s: i64[1]\n"
      "%y = Slice(%x, %b, %e, %a, %s)\nout %y\n",
      {f32({6}, counting(6)), i64({1}, {0}), i64({1}, {6}), i64({1}, {0})}, "step");
}

TEST(Bank, M5SoftmaxOfOldOpsets) {
  const std::string text =
      "in %x: f32[2,3,4]\n%s = Softmax(%x)\n%y = ReduceMax(%s) {axes=[1,2], keepdims=0}\nout %y\n";
  const Tensor x = f32({2, 3, 4}, counting(24, 0.1F));
  for (const int opset : {11, 12}) expect(opset, text, {x}, {2}, {0.136179, 0.136179}, 1e-5);
  expect(13, text, {x}, {2}, {0.288651, 0.288651}, 1e-5);
}

TEST(Bank, M6BatchNormalizationInTraining) {
  for (const float momentum : {0.5F, 0.9F}) {
    const std::string text = fmt::format(
        "const %one: f32[4] = {{1, 1, 1, 1}}\nconst %zero: f32[4] = {{0, 0, 0, 0}}\n"
        "in %x: f32[2,4,3]\n%y, %m, %v = BatchNormalization(%x, %one, %zero, %zero, %one) "
        "{{training_mode=1, momentum={:.1f}}}\n",
        momentum);
    const Tensor x = f32({2, 4, 3}, counting(24));
    each_way(15, text + "out %y, %m, %v\n", {x},
             [&](const char* way, const Result<std::vector<Tensor>>& got) {
               ASSERT_TRUE(got) << way << ": " << got.error().message;
               EXPECT_NEAR(got->at(0).as<float>()[0], -1.156012, 1e-5) << way;
               EXPECT_NEAR(got->at(0).as<float>()[1], -0.990867, 1e-5) << way;
               EXPECT_NEAR(got->at(0).as<float>()[2], -0.825723, 1e-5) << way;
               if (momentum == 0.5F) {
                 EXPECT_NEAR(got->at(1).as<float>()[0], 3.5, 1e-5) << way;
                 EXPECT_NEAR(got->at(2).as<float>()[0], 18.8333, 1e-4) << way;
               }
             });
  }
}

TEST(Bank, M8CastLimits) {
  const Tensor x = f32({6}, {300, kNan, kInf, -kInf, 50, -50});
  const auto cast = [](DType to) {
    return fmt::format("in %x: f32[6]\n%y = Cast(%x) {{to={}}}\nout %y\n", static_cast<int>(to));
  };
  expect(13, cast(DType::kBool), {x}, {6}, {1, 1, 1, 1, 1, 1});
  // What does not fit is a choice (docs/numerics.md); it is one choice, whichever way it runs.
  for (const DType to : {DType::kI8, DType::kU8, DType::kI32, DType::kI64}) {
    std::vector<Tensor> all;
    each_way(13, cast(to), {x}, [&](const char* way, const Result<std::vector<Tensor>>& got) {
      ASSERT_TRUE(got) << way << ": " << got.error().message;
      all.push_back(got->at(0));
    });
    for (const Tensor& t : all) {
      for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(element(t, i), element(all[0], i)) << i;
      EXPECT_EQ(element(t, 4), 50);
      if (to != DType::kU8) {
        EXPECT_EQ(element(t, 5), -50);
      }
    }
  }
  expect(13, "in %x: f32[6]\n%h = Cast(%x) {to=10}\n%y = Cast(%h) {to=1}\nout %y\n",
         {f32({6}, {65504, 65519.99F, 65520, 2.9802322e-08F, 2.9802326e-08F, -0.0F})}, {6},
         {65504, 65504, INFINITY, 0, 5.9604645e-08, 0}, 1e-12);
}

TEST(Bank, M9IntegerDivision) {
  const std::vector<int64_t> a = {8, -8, 7, -7}, b = {-3, 3, -2, 2};
  const auto binary = [](const std::string& op) {
    return "in %a: i64[n]\nin %b: i64[n]\n%y = " + op + "\nout %y\n";
  };
  expect(14, binary("Div(%a, %b)"), {i64({4}, a), i64({4}, b)}, {4}, {-2, -2, -3, -3});
  expect(14, binary("Mod(%a, %b)"), {i64({4}, a), i64({4}, b)}, {4}, {-1, 1, -1, 1});
  expect(14, binary("Mod(%a, %b) {fmod=1}"), {i64({4}, a), i64({4}, b)}, {4}, {2, -2, 1, -1});
  for (const int64_t n : {1, 4, 37}) {  // the loop and its tail
    const auto count = static_cast<size_t>(n);
    const Tensor low = i64({n}, std::vector<int64_t>(count, INT64_MIN));
    const Tensor minus = i64({n}, std::vector<int64_t>(count, -1));
    expect(14, binary("Div(%a, %b)"), {low, minus}, {n},
           std::vector<double>(count, static_cast<double>(INT64_MIN)));
    expect(14, binary("Mod(%a, %b)"), {low, minus}, {n}, std::vector<double>(count, 0));
    expect(14, "in %a: i32[n]\nin %b: i32[n]\n%y = Div(%a, %b)\nout %y\n",
           {of<int32_t>(DType::kI32, {n}, std::vector<int32_t>(count, INT32_MIN)),
            of<int32_t>(DType::kI32, {n}, std::vector<int32_t>(count, -1))},
           {n}, std::vector<double>(count, static_cast<double>(INT32_MIN)));
    expect(14, "in %a: i8[n]\nin %b: i8[n]\n%y = Div(%a, %b)\nout %y\n",
           {of<int8_t>(DType::kI8, {n}, std::vector<int8_t>(count, INT8_MIN)),
            of<int8_t>(DType::kI8, {n}, std::vector<int8_t>(count, -1))},
           {n}, std::vector<double>(count, -128));
    expect_error(14, "in %a: i64[n]\nin %b: i64[n]\n%y = Div(%a, %b) \"ratio\"\nout %y\n",
                 {low, i64({n}, std::vector<int64_t>(count, 0))}, "node 'ratio' (Div)");
    expect_error(14, "in %a: i64[n]\nin %b: i64[n]\n%y = Mod(%a, %b) \"rest\"\nout %y\n",
                 {low, i64({n}, std::vector<int64_t>(count, 0))}, "node 'rest' (Mod)");
  }
}

TEST(Bank, M10IndexOperators) {
  const Tensor data = f32({3}, {1, 2, 3});
  const std::string gather = "in %x: f32[3]\nin %i: i64[n]\n%y = Gather(%x, %i) \"pick\"\nout %y\n";
  expect(13, gather, {data, i64({2}, {-1, -3})}, {2}, {3, 1});
  expect_error(13, gather, {data, i64({2}, {0, 3})}, "node 'pick' (Gather)");
  expect_error(13, gather, {data, i64({2}, {0, -4})}, "node 'pick' (Gather)");
  expect(16,
         "in %x: f32[3]\nin %i: i64[3,1]\nin %u: f32[3]\n%y = ScatterND(%x, %i, %u) "
         "{reduction=\"add\"}\nout %y\n",
         {data, i64({3, 1}, {1, 1, 1}), f32({3}, {10, 20, 30})}, {3}, {1, 62, 3});
  expect(16,
         "in %x: f32[3]\nin %i: i64[3]\nin %u: f32[3]\n%y = ScatterElements(%x, %i, %u) "
         "{reduction=\"add\"}\nout %y\n",
         {data, i64({3}, {1, -2, 1}), f32({3}, {10, 20, 30})}, {3}, {1, 62, 3});
  expect(16,
         "in %x: f32[2,2,2]\nin %i: i64[1,1,2]\nin %u: f32[1,1,2]\n%y = ScatterND(%x, %i, %u)\n"
         "out %y\n",
         {f32({2, 2, 2}, counting(8)), i64({1, 1, 2}, {0, 0}), f32({1, 1, 2}, {100, 101})},
         {2, 2, 2}, {100, 101, 2, 3, 4, 5, 6, 7});
  // Of duplicates the last wins.
  expect(16,
         "in %x: f32[3]\nin %i: i64[2]\nin %u: f32[2]\n%y = ScatterElements(%x, %i, %u)\nout %y\n",
         {data, i64({2}, {0, 0}), f32({2}, {10, 20})}, {3}, {20, 2, 3});
  for (const std::string op : {"GatherND(%x, %i)", "ScatterND(%x, %i, %x)"}) {
    expect_error(16, "in %x: f32[1]\nin %i: i64[1,1]\n%y = " + op + " \"at\"\nout %y\n",
                 {f32({1}, {1}), i64({1, 1}, {1})}, "node 'at'");
  }
  expect_error(16, "in %x: f32[1]\nin %i: i64[1]\n%y = GatherElements(%x, %i) \"at\"\nout %y\n",
               {f32({1}, {1}), i64({1}, {-2})}, "node 'at'");
}

const std::string kLstm =
    "const %w: f32[1,8,1] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}\n"
    "const %r: f32[1,8,2] = {-0.2, -0.175, -0.15, -0.125, -0.1, -0.075, -0.05, -0.025, 0, 0.025, "
    "0.05, 0.075, 0.1, 0.125, 0.15, 0.175}\nconst %l: i32[2] = {3, 1}\n"
    "const %p: f32[1,6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}\nin %x: f32[3,2,1]\n";

TEST(Bank, M13LstmLengthsAndPeepholes) {
  const Tensor x = f32({3, 2, 1}, {0.2F, 0.4F, 0.6F, 0.8F, 1.0F, 1.2F});
  const auto lstm = [](const std::string& direction, const std::string& out) {
    return kLstm + "%y, %h = LSTM(%x, %w, %r, _, %l, _, _, %p) {hidden_size=2, direction=\"" +
           direction + "\"}\nout " + out + "\n";
  };
  expect(14, lstm("forward", "%h"), {x}, {1, 2, 2}, {0.221010, 0.286079, 0.061979, 0.075203}, 2e-6);
  expect(14, lstm("reverse", "%h"), {x}, {1, 2, 2}, {0.140481, 0.188817, 0.061979, 0.075203}, 2e-6);
  each_way(14, lstm("forward", "%y"), {x},
           [&](const char* way, const Result<std::vector<Tensor>>& got) {
             ASSERT_TRUE(got) << way << ": " << got.error().message;
             for (const int64_t i : {6, 7, 10, 11}) EXPECT_EQ(element(got->at(0), i), 0) << way;
           });
}

TEST(Bank, M13GruAndRnn) {
  for (const int reset : {0, 1}) {
    std::string r;
    for (int i = 0; i < 12; ++i) r += fmt::format("{}{:.2f}", i ? ", " : "", i / 20.0 - 0.2);
    const std::string text = fmt::format(
        "const %w: f32[1,6,1] = {{0, 0.1, 0.2, 0.3, 0.4, 0.5}}\nconst %r: f32[1,6,2] = {{{}}}\n"
        "in %x: f32[2,3,1]\n%y, %h = GRU(%x, %w, %r) {{hidden_size=2, linear_before_reset={}}}\n"
        "out %h\n",
        r, reset);
    const std::vector<double> want =
        reset == 0
            ? std::vector<double>{0.189974, 0.219515, 0.287332, 0.325292, 0.375239, 0.413269}
            : std::vector<double>{0.189974, 0.219515, 0.287056, 0.325506, 0.374655, 0.413684};
    expect(14, text, {f32({2, 3, 1}, counting(6, 1.0F / 3))}, {1, 3, 2}, want, 2e-6);
  }
  expect(14,
         "const %w: f32[1,2,1] = {1, 1}\nconst %r: f32[1,2,2] = {0, 0, 0, 0}\nin %x: f32[2,3,1]\n"
         "%y = RNN(%x, %w, %r) {hidden_size=2, layout=1}\nout %y\n",
         {f32({2, 3, 1}, {1, 1, 1, 1, 1, 1})}, {2, 3, 1, 2}, std::vector<double>(12, 0.761594),
         2e-6);
}

TEST(Bank, M14ZeroSizesAndReshapeZeros) {
  expect(14,
         "const %a: i64[3] = {4, 2, -1}\nconst %b: i64[3] = {0, 0, 4}\nin %x: f32[0,8,2]\n"
         "%r = Reshape(%x, %a)\n%y = Reshape(%r, %b) {allowzero=1}\nout %y\n",
         {f32({0, 8, 2}, {})}, {0, 0, 4}, {});
  expect(14,
         "const %a: i64[3] = {1, 2, 0}\nin %x: f32[2,0]\n%y = Reshape(%x, %a) {allowzero=1}\n"
         "out %y\n",
         {f32({2, 0}, {})}, {1, 2, 0}, {});
  expect(14, "const %a: i64[2] = {0, -1}\nin %x: f32[2,3]\n%y = Reshape(%x, %a)\nout %y\n",
         {f32({2, 3}, counting(6))}, {2, 3}, {0, 1, 2, 3, 4, 5});
  expect(13, "in %x: f32[0]\nin %z: f32[2]\n%y = Concat(%x, %z) {axis=0}\nout %y\n",
         {f32({0}, {}), f32({2}, {1, 2})}, {2}, {1, 2});
  expect(13,
         "const %w: f32[3,2] = {1, 2, 3, 4, 5, 6}\nconst %b: f32[2] = {1, 1}\nin %x: f32[1,0,3]\n"
         "%m = MatMul(%x, %w)\n%y = Add(%m, %b)\nout %y\n",
         {f32({1, 0, 3}, {})}, {1, 0, 2}, {});
  expect(13, "in %x: f32[2,0]\nin %w: f32[0,3]\n%y = MatMul(%x, %w)\nout %y\n",
         {f32({2, 0}, {}), f32({0, 3}, {})}, {2, 3}, {0, 0, 0, 0, 0, 0});
  expect(13, "in %x: f32[2,0]\nin %w: f32[0,3]\nin %c: f32[3]\n%y = Gemm(%x, %w, %c)\nout %y\n",
         {f32({2, 0}, {}), f32({0, 3}, {}), f32({3}, {1, 2, 3})}, {2, 3}, {1, 2, 3, 1, 2, 3});
  const auto reduce = [](const std::string& op) {
    return "const %a: i64[1] = {1}\nin %x: f32[2,0]\n%y = " + op +
           "(%x, %a) {keepdims=0}\nout %y\n";
  };
  expect(18, reduce("ReduceSum"), {f32({2, 0}, {})}, {2}, {0, 0});
  expect(18, reduce("ReduceMax"), {f32({2, 0}, {})}, {2}, {-kInf, -kInf});
  expect(18, reduce("ReduceMean"), {f32({2, 0}, {})}, {2}, {kNan, kNan});
}

TEST(Bank, ManyRowsOfNothingTakeNoTime) {
  constexpr int64_t kMany = int64_t{1} << 51;
  const auto x = fmt::format("in %x: f32[{},0]\n", kMany);
  const auto image = fmt::format("in %x: f32[1,{},0,4]\n", kMany);
  const std::string numbers =
      "const %c: f32[1] = {1}\nconst %one: f32[] = {1}\nconst %i: i64[2] = {0, 0}\n"
      "const %two: i64[2] = {2, 1}\nconst %o: i64[1] = {0}\nconst %z: i64[] = {0}\n"
      "const %t: bool[1] = {true}\nconst %none: i64[0] = {}\nconst %none2: f32[0,0] = {}\n"
      "const %shape: i64[3] = {3, 1, 1}\n";
  const auto check = [&](const std::string& in, const Dims& in_dims, const std::string& node,
                         const Dims& dims) {
    SCOPED_TRACE(node);
    expect(18, numbers + in + "%y = " + node + "\nout %y\n", {f32(in_dims, {})}, dims, {});
  };
  const std::vector<std::pair<const char*, Dims>> of_rows = {
      {"Relu(%x)", {kMany, 0}},
      {"Mul(%x, %c)", {kMany, 0}},
      {"Max(%x, %x, %x)", {kMany, 0}},
      {"Where(%t, %x, %x)", {kMany, 0}},
      {"Cast(%x) {to=7}", {kMany, 0}},
      {"Softmax(%x)", {kMany, 0}},
      {"LayerNormalization(%x, %c)", {kMany, 0}},
      {"Transpose(%x)", {0, kMany}},
      {"Concat(%x, %x) {axis=1}", {kMany, 0}},
      {"Slice(%x, %i, %i)", {0, 0}},
      {"ArgMax(%x) {axis=0}", {1, 0}},
      {"CumSum(%x, %z)", {kMany, 0}},
      {"NonZero(%x)", {2, 0}},
      {"Compress(%x, %t) {axis=0}", {1, 0}},
      {"Unique(%x)", {0}},
      {"ReduceMax(%x, %o) {keepdims=0}", {0}},
      {"Tile(%x, %two)", {2 * kMany, 0}},
      {"Expand(%x, %shape)", {3, kMany, 0}},
      {"MatMul(%x, %none2)", {kMany, 0}},
      {"QuantizeLinear(%x, %one)", {kMany, 0}},
      {"Trilu(%x)", {kMany, 0}},
      {"Hardmax(%x)", {kMany, 0}},
      {"LogSoftmax(%x)", {kMany, 0}},
      {"LpNormalization(%x)", {kMany, 0}},
      {"ReverseSequence(%x, %none) {batch_axis=1, time_axis=0}", {kMany, 0}},
  };
  for (const auto& [node, dims] : of_rows) {
    check(x, {kMany, 0}, node, dims);
  }
  for (const char* node :
       {"MaxPool(%x) {kernel_shape=[1,1]}", "AveragePool(%x) {kernel_shape=[1,1]}",
        "LpPool(%x) {kernel_shape=[1,1]}", "DepthToSpace(%x) {blocksize=1}"}) {
    check(image, {1, kMany, 0, 4}, node, {1, kMany, 0, 4});
  }
  // The other axis is long, and its padding.
  expect(
      18,
      fmt::format("const %p: i64[4] = {{0, 0, 0, {}}}\nin %x: f32[0,4]\n%y = Pad(%x, %p)\nout %y\n",
                  kMany),
      {f32({0, 4}, {})}, {0, kMany + 4}, {});
}

TEST(Bank, OneConstantInTwoProducts) {
  // Once as three rows of one column, once as one row.
  expect(13,
         "const %w: f32[1,3] = {2, 3, 4}\nin %x: f32[1,3]\n%a = Gemm(%x, %w) {transB=1}\n"
         "%y = Gemm(%a, %w)\nout %y\n",
         {f32({1, 3}, {1, 1, 1})}, {1, 3}, {18, 27, 36});
  expect(13,
         "const %w: f32[2,2] = {1, 2, 3, 4}\nin %x: f32[1,2]\n%a = Gemm(%x, %w) {transB=1}\n"
         "%y = MatMul(%a, %w)\nout %y\n",
         {f32({1, 2}, {1, 1})}, {1, 2}, {24, 34});
}

}  // namespace
}  // namespace hasten::test
