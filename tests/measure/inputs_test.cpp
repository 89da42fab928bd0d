#include "measure/inputs.h"

#include <gtest/gtest.h>

#include "engine/ir/npy.h"
#include "engine/onnx/load.h"
#include "tests/adapters/tiny_onnx.h"

namespace hasten {
namespace {

using test::TempDir;

Port port(const char* name, DType dtype, Shape shape) {
  return {name, dtype, true, std::move(shape)};
}

Dim sym(const char* name) { return Dim::symbol(name); }

Tensor floats(Dims dims) {
  std::vector<float> values(static_cast<size_t>(count_of(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::floats(std::move(dims), values);
}

Samples made_up(const std::vector<Port>& ports, const InputTrial& trial = {}) {
  auto samples = gather_inputs(ports, {}, nullptr, trial);
  EXPECT_TRUE(samples) << samples.error().message;
  return samples ? std::move(*samples) : Samples();
}

TEST(MadeUpInputs, DimsByRoleAndName) {
  const Samples s =
      made_up({port("image", DType::kF32, {sym("N"), 3, sym("H"), sym("W")}),
               port("nhwc", DType::kF32, {Dim::fresh(), Dim::fresh(), Dim::fresh(), 3}),
               port("ids", DType::kI64, {sym("batch"), sym("seq")}),
               port("state", DType::kF32, {2, Dim::fresh(), 128}), port("sr", DType::kI64, {})});
  ASSERT_EQ(s.rows.size(), 1u);
  EXPECT_EQ(s.rows[0][0].dims(), (Dims{1, 3, 224, 224}));
  EXPECT_EQ(s.rows[0][1].dims(), (Dims{1, 224, 224, 3}));
  EXPECT_EQ(s.rows[0][2].dims(), (Dims{1, 128}));
  EXPECT_EQ(s.rows[0][3].dims(), (Dims{2, 1, 128}));
  EXPECT_EQ(s.rows[0][4].as<int64_t>()[0], 16000);
}

TEST(MadeUpInputs, ValuesSuitTheInput) {
  const Samples s = made_up(
      {port("attention_mask", DType::kI64, {1, 4}), port("token_type_ids", DType::kI64, {1, 4}),
       port("position_ids", DType::kI64, {1, 4}), port("x", DType::kF32, {100})});
  EXPECT_EQ(s.rows[0][0].as<int64_t>()[3], 1);
  EXPECT_EQ(s.rows[0][1].as<int64_t>()[3], 0);
  EXPECT_EQ(s.rows[0][2].as<int64_t>()[3], 3);
  const float* x = s.rows[0][3].as<float>();
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(x[i], 0.0F);
    EXPECT_LT(x[i], 1.0F);
  }
  EXPECT_NE(x[0], x[1]);
  EXPECT_EQ(s.assumed.size(), 4u);
  EXPECT_EQ(s.assumed[0], "input 'attention_mask' i64[1,4]: ones");
}

TEST(MadeUpInputs, TheSameSeedGivesTheSameValues) {
  const std::vector<Port> ports = {port("x", DType::kF32, {8})};
  const Samples a = made_up(ports), b = made_up(ports);
  EXPECT_EQ(a.rows[0][0].as<float>()[7], b.rows[0][0].as<float>()[7]);
  InputRequest request;
  request.seed = 2;
  auto c = gather_inputs(ports, request, nullptr, {});
  ASSERT_TRUE(c);
  EXPECT_NE(a.rows[0][0].as<float>()[7], c->rows[0][0].as<float>()[7]);
}

TEST(MadeUpInputs, TriesDimsUntilTheModelRuns) {
  const std::vector<Port> ports = {
      port("x", DType::kF32, {sym("n"), 3, Dim::fresh(), Dim::fresh()})};
  int calls = 0;
  const Samples s = made_up(ports, [&calls](const Samples& samples) -> Status {
    ++calls;
    if (samples.rows[0][0].dims()[2] == 48) return {};
    return fail(Code::kInvalidModel, "wants 48 rows");
  });
  EXPECT_EQ(s.rows[0][0].dims(), (Dims{1, 3, 48, 320}));
  EXPECT_EQ(calls, 2);
  auto none = gather_inputs(ports, {}, nullptr, [](const Samples&) -> Status {
    return fail(Code::kInvalidModel, "never");
  });
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("the first: never"), std::string::npos)
      << none.error().message;
  auto broken = gather_inputs(ports, {}, nullptr,
                              [](const Samples&) -> Status { return fail(Code::kIo, "gone"); });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "gone") << "not a matter of dims";
}

TEST(MadeUpInputs, FixedDimsNeedNoTrial) {
  made_up({port("x", DType::kF32, {sym("batch"), 3, 8, 8})}, [](const Samples&) -> Status {
    ADD_FAILURE() << "nothing is open but the batch";
    return {};
  });
}

TEST(MadeUpInputs, IdsStayInsideTheTableTheyIndex) {
  const std::string bytes = test::TinyOnnx()
                                .input("ids", 7, {"batch", "seq"})
                                .weight("table", {5, 2}, std::vector<float>(10, 1.0F))
                                .node("Cast", {"ids"}, {"ids64"}, {{"to", 7}})
                                .node("Gather", {"table", "ids64"}, {"y"})
                                .output("y", 1, {"batch", "seq", "2"})
                                .bytes();
  TempDir dir;
  auto graph = load_onnx(dir.write("m.onnx", bytes));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(index_limit(*graph, graph->main.inputs[0]), 5);
  auto s = gather_inputs({port("ids", DType::kI64, {sym("batch"), sym("seq")})}, {}, &*graph, {});
  ASSERT_TRUE(s) << s.error().message;
  const Tensor& ids = s->rows[0][0];
  EXPECT_EQ(ids.dims(), (Dims{1, 128}));
  int64_t most = 0;
  for (int64_t i = 0; i < ids.count(); ++i) {
    EXPECT_GE(ids.as<int64_t>()[i], 0);
    most = std::max(most, ids.as<int64_t>()[i]);
  }
  EXPECT_EQ(most, 4);
}

TEST(MadeUpInputs, AnInputOfUnknownRankMustBeGiven) {
  auto s = gather_inputs({{"x", DType::kF32, false, {}}}, {}, nullptr, {});
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().message.find("'x' declares no shape"), std::string::npos);
}

class Data : public testing::Test {
 protected:
  std::string npz(const std::string& name,
                  const std::vector<std::pair<std::string, Tensor>>& arrays) {
    std::vector<std::pair<std::string, TensorView>> views;
    for (const auto& [key, tensor] : arrays) views.emplace_back(key, tensor.view());
    auto written = write_npz(dir_.file(name), views);
    EXPECT_TRUE(written) << written.error().message;
    return dir_.file(name);
  }
  Result<Samples> load(const std::vector<Port>& ports, const std::string& path) {
    InputRequest request;
    request.data = path;
    return gather_inputs(ports, request, nullptr, {});
  }
  std::string error(const std::vector<Port>& ports, const std::string& path) {
    auto s = load(ports, path);
    return s ? "" : s.error().message;
  }
  TempDir dir_;
};

TEST_F(Data, AxisZeroIsTheSamples) {
  const Port x = port("x", DType::kF32, {sym("batch"), 2});
  auto s = load({x}, npz("d.npz", {{"x", floats({3, 2})},
                                   {"label", Tensor::ints({3}, std::vector<int64_t>{7, 8, 9})}}));
  ASSERT_TRUE(s) << s.error().message;
  ASSERT_EQ(s->rows.size(), 3u);
  EXPECT_EQ(s->rows[2][0].dims(), (Dims{1, 2}));
  EXPECT_EQ(s->rows[2][0].as<float>()[0], 4.0F);
  EXPECT_EQ(s->label.as<int64_t>()[2], 9);
  // A fixed batch of 1 is a batch axis too.
  s = load({port("x", DType::kF32, {1, 2})}, dir_.file("d.npz"));
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->rows.size(), 3u);
}

TEST_F(Data, InputsWithoutABatchAxis) {
  const std::vector<Port> ports = {port("x", DType::kF32, {sym("batch"), 2}),
                                   port("state", DType::kF32, {2, 1, 4}),
                                   port("sr", DType::kI64, {})};
  // Once for all samples.
  auto s = load(ports, npz("c.npz", {{"x", floats({3, 2})},
                                     {"state", floats({2, 1, 4})},
                                     {"sr", Tensor::ints({}, std::vector<int64_t>{8000})}}));
  ASSERT_TRUE(s) << s.error().message;
  ASSERT_EQ(s->rows.size(), 3u);
  EXPECT_EQ(s->rows[2][1].dims(), (Dims{2, 1, 4}));
  EXPECT_EQ(s->rows[2][2].as<int64_t>()[0], 8000);
  // Per sample, with one more leading axis.
  s = load(ports, npz("p.npz", {{"x", floats({3, 2})},
                                {"state", floats({3, 2, 1, 4})},
                                {"sr", Tensor::ints({3}, std::vector<int64_t>{1, 2, 3})}}));
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->rows[1][1].dims(), (Dims{2, 1, 4}));
  EXPECT_EQ(s->rows[1][1].as<float>()[0], 8.0F);
  EXPECT_EQ(s->rows[1][2].dims(), Dims{});
  EXPECT_EQ(s->rows[1][2].as<int64_t>()[0], 2);
}

TEST_F(Data, ALengthInFrontIsNoBatch) {
  const std::vector<Port> ports = {port("x", DType::kF32, {sym("sequence_length"), 4})};
  auto s = load(ports, npz("one.npz", {{"x", floats({5, 4})}}));
  ASSERT_TRUE(s) << s.error().message;
  ASSERT_EQ(s->rows.size(), 1u);
  EXPECT_EQ(s->rows[0][0].dims(), (Dims{5, 4}));
  s = load(ports, npz("many.npz", {{"x", floats({3, 5, 4})}}));
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->rows.size(), 3u);
}

TEST_F(Data, AFolderHoldsOneSampleAFile) {
  npz("b.npz", {{"x", floats({1, 7})}, {"label", Tensor::ints({}, std::vector<int64_t>{2})}});
  npz("a.npz", {{"x", floats({5})}, {"label", Tensor::ints({1}, std::vector<int64_t>{1})}});
  auto s = load({port("x", DType::kF32, {sym("batch"), sym("n")})}, dir_.path());
  ASSERT_TRUE(s) << s.error().message;
  ASSERT_EQ(s->rows.size(), 2u);
  EXPECT_EQ(s->rows[0][0].dims(), (Dims{1, 5}));
  EXPECT_EQ(s->rows[1][0].dims(), (Dims{1, 7}));
  ASSERT_EQ(s->label.dims(), (Dims{2}));
  EXPECT_EQ(s->label.as<int64_t>()[0], 1);
}

TEST_F(Data, ErrorsSayWhatTheModelWants) {
  const std::vector<Port> ports = {port("x", DType::kF32, {sym("batch"), 2}),
                                   port("y", DType::kF32, {sym("batch")})};
  EXPECT_NE(error(ports, npz("m.npz", {{"x", floats({3, 2})}}))
                .find("no array named 'y'; the model wants 'x' f32[batch,2], 'y' f32[batch]"),
            std::string::npos);
  EXPECT_NE(
      error(ports, npz("u.npz", {{"x", floats({3, 2})}, {"y", floats({3})}, {"z", floats({3})}}))
          .find("array 'z' is no input"),
      std::string::npos);
  EXPECT_NE(error(ports, npz("n.npz", {{"x", floats({3, 2})}, {"y", floats({4})}}))
                .find("'x' holds 3 samples, array 'y' 4"),
            std::string::npos);
  EXPECT_NE(error(ports, npz("r.npz", {{"x", floats({3, 5})}, {"y", floats({3})}}))
                .find("input 'x' wants f32[batch,2], got f32[3,5]"),
            std::string::npos);
  EXPECT_NE(error(ports, npz("t.npz", {{"x", Tensor::ints({1, 2}, std::vector<int64_t>{1, 2})},
                                       {"y", floats({3})}}))
                .find("got i64[1,2]"),
            std::string::npos);
  EXPECT_NE(
      error(ports, npz("0.npz", {{"x", floats({0, 2})}, {"y", floats({0})}})).find("no samples"),
      std::string::npos);
  EXPECT_NE(error(ports,
                  npz("l.npz", {{"x", floats({3, 2})}, {"y", floats({3})}, {"label", floats({2})}}))
                .find("'label' is [2], for 3 samples"),
            std::string::npos);
  TempDir empty;
  EXPECT_NE(error(ports, empty.path()).find("holds no .npz"), std::string::npos);
  EXPECT_FALSE(load(ports, dir_.file("none.npz")));
  EXPECT_FALSE(load(ports, dir_.write("bad.npz", "not a zip")));
}

TEST_F(Data, InputsByName) {
  const std::vector<Port> ports = {port("x", DType::kF32, {sym("n"), sym("seq")}),
                                   port("mask", DType::kF32, {sym("n"), sym("seq")})};
  auto written = write_npy(dir_.file("x.npy"), floats({2, 9}).view());
  ASSERT_TRUE(written);
  InputRequest request;
  request.inputs = {"x=" + dir_.file("x.npy"), "mask=random"};
  auto s = gather_inputs(ports, request, nullptr, {});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->rows[0][1].dims(), (Dims{2, 9})) << "symbols follow from what is given";
  auto message = [&](std::vector<std::string> inputs) {
    request.inputs = std::move(inputs);
    auto r = gather_inputs(ports, request, nullptr, {});
    return r ? "" : r.error().message;
  };
  EXPECT_NE(message({"x=random"}).find("'mask' is not given (--input mask=random makes it up)"),
            std::string::npos);
  EXPECT_NE(message({"z=random"}).find("no such input"), std::string::npos);
  EXPECT_NE(message({"x"}).find("want NAME=file.npy"), std::string::npos);
  EXPECT_NE(message({"x=random", "x=random"}).find("given twice"), std::string::npos);
  EXPECT_NE(message({"x=none.npy", "mask=random"}).find("none.npy"), std::string::npos);
}

TEST_F(Data, ValuesThatAreNotFiniteAreSaid) {
  const Port x = port("x", DType::kF32, {sym("batch"), 2});
  Tensor values = floats({3, 2});
  ASSERT_TRUE(load({x}, npz("d.npz", {{"x", values}}))->assumed.empty());
  values.mutable_as<float>()[1] = NAN;
  values.mutable_as<float>()[5] = -INFINITY;
  const auto s = load({x}, npz("n.npz", {{"x", values}}));
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->assumed,
            std::vector<std::string>{"input 'x' holds NaN or infinity in 2 of 3 samples"});
}

TEST_F(Data, SetsFollowTheOrderOfThePorts) {
  Samples s = made_up({port("a", DType::kF32, {1}), port("b", DType::kI64, {2})});
  auto sets = s.sets({port("b", DType::kI64, {2}), port("a", DType::kF32, {1})});
  ASSERT_TRUE(sets) << sets.error().message;
  EXPECT_EQ((*sets)[0][0].dtype, DType::kI64);
  EXPECT_FALSE(s.sets({port("a", DType::kF32, {1})}));
  EXPECT_FALSE(s.sets({port("a", DType::kF32, {1}), port("c", DType::kI64, {2})}));
  EXPECT_FALSE(s.sets({port("a", DType::kF32, {1}), port("b", DType::kI64, {3})}));
}

TEST(Bf16, TravelsAsUint16) {
  TempDir dir;
  const Tensor bits =
      Tensor::of<uint16_t>(DType::kU16, {1, 2}, std::vector<uint16_t>{0x3f80, 0x4000});
  ASSERT_TRUE(write_npy(dir.file("x.npy"), bits.view()));
  InputRequest request;
  request.inputs = {"x=" + dir.file("x.npy")};
  auto s = gather_inputs({port("x", DType::kBF16, {1, 2})}, request, nullptr, {});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->rows[0][0].dtype(), DType::kBF16);
  EXPECT_EQ(s->rows[0][0].as<uint16_t>()[1], 0x4000);
}

}  // namespace
}  // namespace hasten
