// The binary on real models out of the cache folder; skipped where a model isn't there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/cache_dir.h"
#include "base/mapped_file.h"
#include "tests/cli/run_binary.h"

namespace hasten {
namespace {

using nlohmann::json;
using test::hasten_with;
using test::Outcome;
using test::TempDir;

std::string model(const std::string& name) { return cache_dir() + "/models/" + name + ".onnx"; }
std::string data(const std::string& name) { return cache_dir() + "/data/" + name + ".npz"; }

#define HASTEN_NEEDS(name)                                                             \
  if (!std::filesystem::exists(model(name)) || !std::filesystem::exists(data(name))) { \
    GTEST_SKIP() << "no " << name << ": tools/zoo --data brings it";                   \
  }

class DefaultInputs : public testing::TestWithParam<const char*> {};

TEST_P(DefaultInputs, BenchJustWorks) {
  HASTEN_NEEDS(GetParam());
  const Outcome o = hasten_with("bench --json --runs 7 " + model(GetParam()));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(o.json()["p50_ms"].is_number()) << o.out;
}

INSTANTIATE_TEST_SUITE_P(Zoo, DefaultInputs,
                         testing::Values("mnist_cnn", "sentiment_lstm", "ppocrv2_cls",
                                         "ppocrv4_rec", "minilm_l6_v2_fp32", "magika_standard_v3_3",
                                         "silero_vad_v6"),
                         [](const auto& param) { return std::string(param.param); });

class Agreement : public testing::TestWithParam<const char*> {};

TEST_P(Agreement, WithOnnxRuntimeOnRealInputs) {
  HASTEN_NEEDS(GetParam());
  const std::string m = model(GetParam());
  const Outcome o = hasten_with("compare --json --seconds 0.5 --data " + data(GetParam()) + " " +
                                m + "@engine=onnxruntime " + m);
  if (o.code == 4) GTEST_SKIP() << o.err;
  ASSERT_EQ(o.code, 0) << o.err;
  const json outputs = o.json()["outputs"];
  ASSERT_TRUE(outputs["max_rel"].is_number()) << outputs;
  EXPECT_LE(outputs["max_rel"].get<double>(), 1e-4) << outputs;
}

INSTANTIATE_TEST_SUITE_P(Zoo, Agreement,
                         testing::Values("mnist_cnn", "sentiment_lstm", "ppocrv2_cls",
                                         "silero_vad_v6"),
                         [](const auto& param) { return std::string(param.param); });

TEST(Optimize, LeavesABundleWhoseProofHolds) {
  HASTEN_NEEDS("mnist_cnn");
  TempDir dir;
  const std::string bundle = dir.file("fast");
  Outcome o = hasten_with("optimize --json --seconds 3 --data " + data("mnist_cnn") + " -o " +
                          bundle + " " + model("mnist_cnn"));
  ASSERT_EQ(o.code, 0) << o.err;
  json j = o.json();
  for (const char* key : {"baseline", "chosen", "speedup", "ci", "accuracy", "tried"})
    EXPECT_TRUE(j.contains(key)) << key;
  for (const char* file : {"bundle.json", "model.onnx", "proof.json", "report.html"}) {
    EXPECT_TRUE(std::filesystem::exists(bundle + "/" + file)) << file;
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1)
      << "nothing is left beside it";

  o = hasten_with("bench --json --runs 7 " + bundle);
  EXPECT_EQ(o.code, 0) << o.err;
  o = hasten_with("verify --json --seconds 2 " + bundle);
  EXPECT_TRUE(o.code == 0 || o.code == 1) << o.err;
  EXPECT_EQ(o.json()["holds"].get<bool>(), o.code == 0) << o.out;
  EXPECT_FALSE(o.json()["reasons"].empty());

  // The bundle's model is there for other engines, but a plan of another model is refused.
  o = hasten_with("bench --json --runs 7 " + bundle + "@engine=onnxruntime");
  EXPECT_TRUE(o.code == 0 || o.code == 4) << o.err;
  if (std::filesystem::exists(bundle + "/model.hplan")) {
    const std::string original = read_file(bundle + "/bundle.json").value_or("");
    std::string text = original;
    const std::string hash = json::parse(text)["files"]["model.onnx"];
    text.replace(text.find(hash), hash.size(), std::string(hash.size(), '0'));
    dir.write("fast/bundle.json", text);
    o = hasten_with("run " + bundle);
    EXPECT_EQ(o.code, 3) << o.err;
    EXPECT_NE(o.err.find("the plan of another model"), std::string::npos) << o.err;
    dir.write("fast/bundle.json", original);
  }

  // A changed file is found.
  std::ofstream(bundle + "/report.html", std::ios::app) << "x";
  o = hasten_with("verify --json " + bundle);
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_NE(o.json()["reasons"][0].get<std::string>().find("report.html"), std::string::npos);
}

TEST(Optimize, AnInterruptedOneLeavesNothing) {
  HASTEN_NEEDS("resnet50");  // not done in two seconds anywhere
  TempDir dir;
  const Outcome o =
      hasten_with("optimize --json --seconds 60 -o " + dir.file("fast") + " " + model("resnet50"),
                  "timeout --preserve-status -s INT 2");
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(Optimize, WritesIntoNoForeignFolder) {
  TempDir dir;
  dir.write("precious.txt", "x");
  const Outcome o = hasten_with("optimize -o " + dir.path() + " " + model("mnist_cnn"));
  EXPECT_NE(o.code, 0);
  EXPECT_TRUE(std::filesystem::exists(dir.file("precious.txt")));
}

TEST(Profile, AccountsForTheTime) {
  HASTEN_NEEDS("mnist_cnn");
  TempDir dir;
  const Outcome o = hasten_with("profile --json --seconds 0.5 --trace " + dir.file("t.json") +
                                " --folded " + dir.file("f.txt") + " " + model("mnist_cnn"));
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = o.json();
  for (const char* key : {"wall_ms", "unattributed_ms", "ops", "findings"})
    EXPECT_TRUE(j.contains(key)) << key;
  for (const char* key :
       {"name", "op", "kernel", "ms", "share", "gflops", "gbps", "roof_pct", "bound"}) {
    EXPECT_TRUE(j["ops"][0].contains(key)) << key;
  }
  EXPECT_TRUE(std::filesystem::exists(dir.file("t.json")));
  EXPECT_TRUE(std::filesystem::exists(dir.file("f.txt")));
  // A saved profile can be held against another.
  dir.write("p.json", o.out);
  const Outcome against = hasten_with("profile --json --seconds 0.3 --against " +
                                      dir.file("p.json") + " " + model("mnist_cnn"));
  ASSERT_EQ(against.code, 0) << against.err;
  EXPECT_TRUE(against.json()["against"]["ops"].is_array());
  // So can an engine that shows no steps, as a whole.
  const Outcome peer = hasten_with("profile --json --seconds 0.3 --against " + model("mnist_cnn") +
                                   "@engine=onnxruntime " + model("mnist_cnn"));
  if (peer.code == 4) GTEST_SKIP() << peer.err;
  ASSERT_EQ(peer.code, 0) << peer.err;
  EXPECT_EQ(peer.json()["against"]["a_has_steps"], false);
  EXPECT_GT(peer.json()["against"]["a_wall_ms"].get<double>(), 0);
}

// LayerNormalization found in parts moves what is quantized by 1e-7, and so the outputs by per
// cents.
TEST(Check, BlamesNoPassForRounding) {
  HASTEN_NEEDS("minilm_l6_v2_int8");
  const Outcome o = hasten_with("check --json --samples 1 " + model("minilm_l6_v2_int8"));
  ASSERT_EQ(o.code, 0) << o.err << o.out;
  const json j = o.json();
  EXPECT_EQ(j["ok"], true);
  EXPECT_EQ(j["rounding"]["nodes"], 24);
  EXPECT_EQ(j["rounding"]["ops"]["DynamicQuantizeLinear"], 24);
  EXPECT_EQ(j["rounding"]["samples"], 1);
  EXPECT_GT(j["rounding"]["max_err"].get<double>(), 1e-3) << o.out;
  EXPECT_NE(j["note"].get<std::string>().find("24 nodes that round or decide"), std::string::npos);
  for (const json& pass : j["passes"]) {
    EXPECT_LE(pass["max_err"].get<double>(), 1e-5) << pass;
    EXPECT_TRUE(pass["behind_rounding"].is_number()) << pass;
  }
}

TEST(MachineVerb, TellsMeasuredPeaks) {
  const Outcome o = hasten_with("machine --json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(o.json()["peaks"].is_object());
  EXPECT_TRUE(o.json()["threads"].is_number());
  EXPECT_TRUE(o.json()["why"].is_string());
}

}  // namespace
}  // namespace hasten
