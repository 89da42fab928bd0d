// Plan files: what is saved opens with the same answers, what was changed is refused.
#include "engine/plan/plan_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/mapped_file.h"
#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/bind.h"
#include "tests/adapters/tiny_onnx.h"

namespace hasten {
namespace {

using test::TempDir;

constexpr const char* kText =
    "graph \"g\" opset {\"\": 17}\n"
    "const %w: f32[2,3] = {1, 2, 3, 4, 5, 6}\n"
    "in %x: f32[n,2]\n"
    "%p = MatMul(%x, %w)\n"
    "%y = Relu(%p)\n"
    "out %y\n";

class PlanFiles : public testing::Test {
 protected:
  void SetUp() override {
    auto graph = parse_graph(kText);
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_TRUE(bind_graph(*graph));
    auto engine = NativeEngine::compile(*context_, std::move(*graph), {});
    ASSERT_TRUE(engine) << engine.error().message;
    answer_ = run(**engine);
    ASSERT_EQ(answer_, (std::vector<float>{9, 12, 15, 0, 0, 0}));
    file_ = write_plan((*engine)->graph(), (*engine)->packed(), isa(), "hash", false);
  }

  static std::vector<float> run(NativeEngine& engine) {
    const std::vector<float> x = {1, 2, -1, -2};
    auto runner = engine.make_runner();
    EXPECT_TRUE(runner);
    const TensorView view{DType::kF32, {2, 2}, x.data(), Layout::kPlain};
    Status ok = (*runner)->bind(std::span(&view, 1));
    if (ok) ok = (*runner)->run();
    EXPECT_TRUE(ok) << (ok ? "" : ok.error().message);
    if (!ok) return {};
    const TensorView& y = (*runner)->outputs()[0];
    return {y.as<float>(), y.as<float>() + y.count()};
  }

  std::string isa() const { return isa_name(context_->isa()); }

  Result<PlanFile> open(const std::string& bytes, bool verify = false) {
    return load_plan(dir_.write("m.hplan", bytes), isa(), verify);
  }
  std::string error(const std::string& bytes, bool verify = false) {
    auto plan = open(bytes, verify);
    return plan ? "" : plan.error().message;
  }
  /// The error of opening the file with one bit flipped, in place: rewriting it waits for the disk.
  std::string flipped(size_t at, size_t bit, bool verify = false) {
    const std::string path = dir_.file("flipped.hplan");
    if (!std::filesystem::exists(path)) dir_.write("flipped.hplan", file_);
    std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto put = [&](char byte) {
      out.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
    };
    put(static_cast<char>(file_[at] ^ 1 << bit));
    auto plan = load_plan(path, isa(), verify);
    put(file_[at]);
    EXPECT_TRUE(out.good());
    return plan ? "" : plan.error().message;
  }
  PlanHeader header() const {
    PlanHeader h;
    std::memcpy(&h, file_.data(), sizeof h);
    return h;
  }

  size_t weights_at() const {
    return (sizeof(PlanHeader) + header().metadata_bytes + 4095) / 4096 * 4096;
  }

  std::unique_ptr<Context> context_ = *Context::make();
  TempDir dir_;
  std::string file_;
  std::vector<float> answer_;
};

TEST_F(PlanFiles, OpensWithTheSameAnswers) {
  auto plan = open(file_, true);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->model_hash, "hash");
  EXPECT_FALSE(plan->packed->entries().empty());
  auto engine =
      NativeEngine::resume(*context_, std::move(plan->graph), {}, std::move(plan->packed));
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ(run(**engine), answer_);
}

TEST_F(PlanFiles, RefusesWhatIsCutShort) {
  for (size_t bytes = 0; bytes < file_.size(); bytes += bytes < 128 ? 1 : 1000) {
    EXPECT_NE(error(file_.substr(0, bytes)), "") << bytes;
  }
  EXPECT_NE(error(file_ + "x").find("its header says"), std::string::npos);
}

TEST_F(PlanFiles, RefusesAnyChangeBeforeTheWeights) {
  for (size_t at = 0; at < weights_at(); ++at) EXPECT_NE(flipped(at, at % 8), "") << "byte " << at;
}

TEST_F(PlanFiles, VerifyFindsAnyFlippedBitOfTheWeights) {
  ASSERT_LT(weights_at(), file_.size());
  for (size_t at = weights_at(); at < file_.size(); ++at) {
    EXPECT_EQ(flipped(at, at % 8), "") << "weights are read in place, not on opening";
    EXPECT_NE(flipped(at, at % 8, true).find("its weights have been changed"), std::string::npos)
        << at;
  }
}

TEST_F(PlanFiles, VerifyFindsAnyFlippedBitWhereverItIs) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const size_t at = random() % file_.size(), bit = random() % 8;
    EXPECT_NE(flipped(at, bit, true), "") << "bit " << bit << " of byte " << at;
  }
}

TEST_F(PlanFiles, RefusesAnotherTierOrFormat) {
  const auto other = load_plan(dir_.write("m.hplan", file_), "sse9");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kUnsupported);
  EXPECT_NE(other.error().message.find("made for " + isa() + ", this process uses sse9"),
            std::string::npos);
  std::string changed = file_;
  PlanHeader h = header();
  ++h.format;
  std::memcpy(changed.data(), &h, sizeof h);
  EXPECT_NE(error(changed).find("format 2, this hasten reads 1"), std::string::npos);
}

TEST_F(PlanFiles, PackedWeightsOfAnotherSizeAreNotRead) {
  auto plan = open(file_);
  ASSERT_TRUE(plan);
  auto less = std::make_unique<PackedStore>();
  for (auto [key, entry] : plan->packed->entries()) {
    entry.bytes -= 64;
    less->put(key.first, key.second, entry);
  }
  auto engine = NativeEngine::resume(*context_, std::move(plan->graph), {}, std::move(less));
  ASSERT_TRUE(engine);
  auto runner = (*engine)->make_runner();
  const float x[] = {1, 2};
  const TensorView view{DType::kF32, {1, 2}, x, Layout::kPlain};
  const Status ok = (*runner)->bind(std::span(&view, 1));
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().code, Code::kInvalidModel);
}

}  // namespace
}  // namespace hasten
