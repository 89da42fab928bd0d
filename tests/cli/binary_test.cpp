// The binary with small models: verbs, usage errors, exit codes, JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/ir/npy.h"
#include "tests/cli/run_binary.h"

namespace hasten {
namespace {

using nlohmann::json;
using test::hasten_with;
using test::Outcome;
using test::TempDir;
using test::TinyOnnx;

class Binary : public testing::Test {
 protected:
  std::string model() { return dir_.write("m.onnx", test::relu_gemm_model()); }
  TempDir dir_;
};

TEST_F(Binary, VersionAndHelp) {
  Outcome o = hasten_with("--version");
  EXPECT_EQ(o.code, 0);
  EXPECT_TRUE(o.out.starts_with("hasten ")) << o.out;
  EXPECT_EQ(o.err, "");
  o = hasten_with("--help");
  EXPECT_EQ(o.code, 0);
  for (const char* verb : {"inspect", "run", "bench", "compare", "explain", "show"}) {
    EXPECT_NE(o.out.find(verb), std::string::npos) << verb;
  }
  EXPECT_EQ(hasten_with("bench --help").code, 0);
}

TEST_F(Binary, UsageErrorsExitWith2AndOneLine) {
  const std::string m = model();
  for (const std::string& arguments : {std::string(""),
                                       std::string("frobnicate"),
                                       std::string("bench"),
                                       "bench " + m + " --runs 0",
                                       "bench " + m + " --runs 3 --seconds 1",
                                       "bench " + m + " --no-such-option",
                                       "bench " + m + "@color=red",
                                       "bench " + m + "@threads=0",
                                       "bench " + m + "@shape=nope:1x2",
                                       "show " + m + " --stage=none",
                                       "run " + m + "@disable_pass=no_such_pass",
                                       "bench " + m + "@engine=tensorrt",
                                       "run " + m + " --input x",
                                       "run " + m + " --input x=random --input x=random",
                                       "run " + m + " --input x=random --data some.npz",
                                       std::string("run some.hplan@engine=onnxruntime"),
                                       std::string("plan some.hplan -o a.hplan"),
                                       "plan " + m + "@engine=onnxruntime -o a.hplan",
                                       "plan " + m + " -o a.onnx",
                                       "optimize " + m + " -o " + m}) {
    const Outcome o = hasten_with(arguments);
    EXPECT_EQ(o.code, 2) << arguments << "\n" << o.err;
    EXPECT_TRUE(o.err.starts_with("hasten: ")) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_EQ(o.out, "") << arguments;
  }
}

TEST_F(Binary, AVerbThatIsNoneIsNamed) {
  const Outcome o = hasten_with("frobnicate");
  EXPECT_NE(o.err.find("'frobnicate' is no verb; there are inspect, run"), std::string::npos)
      << o.err;
  EXPECT_EQ(hasten_with("inspect " + model(), "HASTEN_ISA=none").code, 0) << "runs nothing";
  EXPECT_EQ(hasten_with("run " + model(), "HASTEN_ISA=none").code, 2);
}

TEST_F(Binary, AFullStdoutIsAnIoError) {
  for (const char* arguments : {"--version", "--help", "bench --help"}) {
    const int status =
        std::system((std::string(HASTEN_BINARY) + " " + arguments + " >/dev/full 2>&1").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 5) << arguments;
  }
}

TEST_F(Binary, AProfileIsPrintedThoughItsTraceCannotBeWritten) {
  const Outcome early = hasten_with("profile --runs 7 --trace /nonexistent/t.json " + model());
  EXPECT_EQ(early.code, 5) << early.err;
  EXPECT_EQ(early.out, "") << "nothing was measured";
  std::filesystem::create_directory(dir_.file("taken"));
  const Outcome late =
      hasten_with("profile --json --runs 7 --folded " + dir_.file("taken") + " " + model());
  EXPECT_EQ(late.code, 5) << late.err;
  EXPECT_TRUE(late.json().contains("wall_ms")) << late.out;
}

TEST_F(Binary, GathersMoveWhatTheyPutOut) {
  const std::string bytes = TinyOnnx()
                                .input("x", 1, {"1000", "8"})
                                .weight("i", {1}, std::vector<float>{0})
                                .node("Cast", {"i"}, {"n"}, {{"to", 7}})
                                .node("Gather", {"x", "n"}, {"y"})
                                .output("y", 1, {"1", "8"})
                                .bytes();
  const Outcome o = hasten_with("explain --json " + dir_.write("g.onnx", bytes));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_LE(o.json()["steps"].back()["bytes"].get<double>(), 100) << o.out;
}

TEST_F(Binary, DiffAndCheckSayNoWithTheirExitCode) {
  const std::string m = model();
  const Outcome same = hasten_with("diff --json " + m + " " + m);
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(same.json()["ok"], true);
  EXPECT_EQ(same.json()["interrupted"], false);
  const std::string other_model = dir_.write(
      "other.onnx",
      TinyOnnx().input("x", 1, {"2"}).node("Neg", {"x"}, {"y"}).output("y", 1, {"2"}).bytes());
  const std::string abs_model = dir_.write(
      "abs.onnx",
      TinyOnnx().input("x", 1, {"2"}).node("Abs", {"x"}, {"y"}).output("y", 1, {"2"}).bytes());
  const Outcome differ = hasten_with("diff --json " + other_model + " " + abs_model);
  EXPECT_EQ(differ.code, 1) << differ.err;
  EXPECT_EQ(differ.json()["ok"], false);
  const Outcome inputs = hasten_with("diff " + m + " " + other_model);
  EXPECT_NE(inputs.err.find("other.onnx"), std::string::npos) << inputs.err;
  const Outcome check = hasten_with("check --json " + m);
  EXPECT_EQ(check.code, 0);
  EXPECT_EQ(check.json()["ok"], true);
  EXPECT_EQ(check.json()["interrupted"], false);
}

TEST_F(Binary, ShapesOverFixedDimsAreSaid) {
  const std::string m = dir_.write(
      "fixed.onnx",
      TinyOnnx().input("x", 1, {"2"}).node("Neg", {"x"}, {"y"}).output("y", 1, {"n"}).bytes());
  const Outcome o = hasten_with("run " + m + "@shape=x:3");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("input 'x' is declared [2], shape= makes it [3]"), std::string::npos)
      << o.err;
  EXPECT_EQ(hasten_with("run " + m + "@shape=x:2").err.find("declared"), std::string::npos);
  EXPECT_EQ(hasten_with("run " + m + "@shape=x:2,shape=x:3").code, 2);
}

TEST_F(Binary, MessagesSayWhatToDo) {
  const std::string m = model();
  const std::string text = dir_.write("text.onnx", "text, and no model");
  EXPECT_EQ(hasten_with("run " + text).err.find("pbf"), std::string::npos);
  const Outcome proof = hasten_with("verify " + m);
  EXPECT_EQ(proof.code, 3);
  EXPECT_NE(proof.err.find("neither a bundle nor a proof"), std::string::npos) << proof.err;
  const Outcome npy = hasten_with("run " + m + " --data x.npy");
  EXPECT_NE(npy.err.find("--input x=x.npy"), std::string::npos) << npy.err;
  const Outcome tolerance = hasten_with("diff --tolerance=-1 " + m + " " + m);
  EXPECT_EQ(tolerance.code, 2);
  EXPECT_LT(tolerance.err.size(), 200u) << tolerance.err;
  EXPECT_EQ(hasten_with("run --sample=-1 " + m).code, 2);
  const Outcome folder = hasten_with("optimize " + m + " -o /proc/none");
  EXPECT_EQ(folder.code, 5);
  EXPECT_EQ(folder.err.find(".new-"), std::string::npos) << folder.err;
}

TEST_F(Binary, ErrorsAreJsonToo) {
  const Outcome o = hasten_with("bench " + dir_.file("none.onnx") + " --json");
  EXPECT_EQ(o.code, 5);
  ASSERT_TRUE(o.json().is_object()) << o.out;
  EXPECT_EQ(o.json()["error"]["code"], "io");
  EXPECT_NE(o.json()["error"]["message"].get<std::string>().find("none.onnx"), std::string::npos);
  const Outcome usage = hasten_with("bench --json --no-such-option");
  EXPECT_EQ(usage.code, 2);
  EXPECT_EQ(usage.json()["error"]["code"], "invalid_argument") << usage.out;
}

TEST_F(Binary, ExitCodesOfBadModelsAndInputs) {
  EXPECT_EQ(hasten_with("inspect " + dir_.write("bad.onnx", "this is no model")).code, 3);
  EXPECT_EQ(hasten_with("inspect " + dir_.write("empty.onnx", "")).code, 3);
  EXPECT_EQ(hasten_with("inspect " + dir_.path()).code, 5);
  const std::string unknown = TinyOnnx()
                                  .input("x", 1, {"2"})
                                  .node("NoSuchOperator", {"x"}, {"y"})
                                  .output("y", 1, {"2"})
                                  .bytes();
  const Outcome o = hasten_with("run " + dir_.write("unknown.onnx", unknown));
  EXPECT_EQ(o.code, 4) << o.err;
  EXPECT_NE(o.err.find("NoSuchOperator"), std::string::npos) << o.err;
  for (const char* engine : {"@engine=onnxruntime", "@engine=openvino"}) {
    const Outcome peer = hasten_with("run " + dir_.file("bad.onnx") + engine);
    EXPECT_EQ(peer.code, 3);
    EXPECT_NE(peer.err.find("not an ONNX file"), std::string::npos) << peer.err;
    EXPECT_EQ(std::count(peer.err.begin(), peer.err.end(), '\n'), 1) << peer.err;
  }
  const Outcome wrong = hasten_with("run " + model() + " --input z=random");
  EXPECT_EQ(wrong.code, 3);
  EXPECT_NE(wrong.err.find("'x' f32[batch,2]"), std::string::npos) << wrong.err;
}

TEST_F(Binary, InspectSeesEverythingUnsupported) {
  const std::string bytes = TinyOnnx()
                                .input("x", 1, {"n", "2"})
                                .weight("w", {2, 3}, std::vector<float>(6, 1))
                                .node("MatMul", {"x", "w"}, {"p"})
                                .node("FirstUnknown", {"p"}, {"q"})
                                .node("SecondUnknown", {"q"}, {"y"})
                                .output("y", 1, {"n", "3"})
                                .bytes();
  const Outcome o = hasten_with("inspect --json " + dir_.write("m.onnx", bytes));
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = o.json();
  EXPECT_EQ(j["nodes"], 3);
  EXPECT_EQ(j["params"], 6);
  EXPECT_EQ(j["flops"], 12);
  EXPECT_EQ(j["inputs"][0]["name"], "x");
  EXPECT_EQ(j["inputs"][0]["shape"], json::parse(R"(["n", 2])"));
  EXPECT_EQ(j["dynamic_dims"], json::parse(R"(["n"])"));
  ASSERT_EQ(j["unsupported"].size(), 2u) << o.out;
  EXPECT_EQ(j["unsupported"][1]["op"], "SecondUnknown");
}

TEST_F(Binary, RunPrintsAndSavesOutputs) {
  ASSERT_TRUE(
      write_npy(dir_.file("x.npy"), Tensor::floats({1, 2}, std::vector<float>{1, 2}).view()));
  const std::string arguments =
      "run " + model() + " --input x=" + dir_.file("x.npy") + " --output " + dir_.file("out");
  const Outcome o = hasten_with(arguments + " --json");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.json()["outputs"][0]["name"], "y");
  EXPECT_EQ(o.json()["outputs"][0]["shape"], json::parse("[1, 2]"));
  EXPECT_EQ(o.json()["outputs"][0]["dtype"], "f32");
  auto y = read_npy(dir_.file("out/y.npy"));
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_FLOAT_EQ(y->as<float>()[0], 5.5F);
  EXPECT_FLOAT_EQ(y->as<float>()[1], 4.5F);
  const Outcome text = hasten_with("run " + model() + " --input x=" + dir_.file("x.npy"));
  EXPECT_NE(text.out.find("5.5"), std::string::npos) << text.out;
}

TEST_F(Binary, OutputsWithSlashesBecomeFiles) {
  const std::string bytes =
      TinyOnnx().input("x", 1, {"2"}).node("Relu", {"x"}, {"a/b"}).output("a/b", 1, {"2"}).bytes();
  const Outcome o =
      hasten_with("run " + dir_.write("s.onnx", bytes) + " --output " + dir_.file("o"));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(std::filesystem::exists(dir_.file("o/a_b.npy")));
}

TEST_F(Binary, UnwritableOutputsAreIoErrors) {
  const std::string blocked = dir_.write("file", "x");
  const Outcome o = hasten_with("run " + model() + " --output " + blocked + "/sub");
  EXPECT_EQ(o.code, 5) << o.err;
}

TEST_F(Binary, BenchHasTheFieldsOfTheContract) {
  const Outcome o = hasten_with("bench --json --runs 20 " + model());
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = o.json();
  for (const char* key :
       {"n", "p50_ms", "p90_ms", "p99_ms", "mean_ms", "cold_ms", "load_ms", "rss_mb", "warnings"}) {
    EXPECT_TRUE(j.contains(key)) << key;
  }
  EXPECT_GE(j["n"].get<int>(), 20);
  EXPECT_TRUE(j["p50_ms"].is_number());
  EXPECT_TRUE(j["p99_ms"].is_null()) << "20 runs say nothing of a P99";
  EXPECT_TRUE(j["cpu_ms"].is_number());
  EXPECT_TRUE(j["rate"].is_null());
  EXPECT_TRUE(j.contains("nr_throttled"));
  EXPECT_FALSE(j.contains("samples_ms"));
  EXPECT_NE(o.err.find("batch = 1"), std::string::npos) << o.err;
  const json paced = hasten_with("bench --json --samples --runs 20 --rate 500 " + model()).json();
  EXPECT_EQ(paced["rate"], 500);
  EXPECT_EQ(paced["samples_ms"].size(), 20u);
  EXPECT_GE(paced["seconds"].get<double>(), 0.04);
  const Outcome text = hasten_with("bench --runs 7 " + model());
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("p50"), std::string::npos);
  EXPECT_EQ(text.out.find("\033["), std::string::npos) << "no colours into a file";
}

TEST_F(Binary, CompareOfAModelWithItself) {
  const Outcome o = hasten_with("compare --json --seconds 1 " + model() + " " + model());
  ASSERT_EQ(o.code, 0) << o.err;
  const json j = o.json();
  for (const char* key : {"a", "b", "speedup", "alpha", "ci", "verdict", "outputs"})
    EXPECT_TRUE(j.contains(key)) << key;
  EXPECT_EQ(j["ci"].size(), 2u);
  EXPECT_EQ(j["outputs"]["max_abs"], 0.0);
  EXPECT_TRUE(j["a"].contains("p50_ms"));
}

TEST_F(Binary, ExplainAndShow) {
  const Outcome explain = hasten_with("explain --json " + model());
  ASSERT_EQ(explain.code, 0) << explain.err;
  ASSERT_FALSE(explain.json()["steps"].empty());
  for (const char* key : {"name", "op", "kernel", "inputs", "outputs", "refused"}) {
    EXPECT_TRUE(explain.json()["steps"][0].contains(key)) << key;
  }
  for (const char* stage : {"ir", "opt", "plan"}) {
    const Outcome o = hasten_with(std::string("show --stage=") + stage + " " + model());
    EXPECT_EQ(o.code, 0) << o.err;
    const char* product = stage == std::string("ir") ? "MatMul" : "Gemm";  // fused by then
    EXPECT_NE(o.out.find(product), std::string::npos) << o.out;
  }
}

TEST_F(Binary, APlanFileAnswersAsTheModel) {
  const std::string m = model(), plan = dir_.file("m.hplan");
  const Outcome made = hasten_with("plan --json " + m + " -o " + plan);
  ASSERT_EQ(made.code, 0) << made.err;
  const json j = made.json();
  for (const char* key : {"engine", "isa", "math", "model_hash", "load_ms", "open_ms", "assumed"})
    EXPECT_TRUE(j.contains(key)) << key;
  EXPECT_EQ(j["path"], plan);
  EXPECT_EQ(j["bytes"], std::filesystem::file_size(plan));
  EXPECT_GT(j["packed_bytes"].get<int>(), 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 2)
      << "nothing is left beside it";
  const Outcome a = hasten_with("run --json " + m);
  const Outcome b = hasten_with("run --json --verify " + plan);
  ASSERT_EQ(b.code, 0) << b.err;
  EXPECT_EQ(a.json()["outputs"], b.json()["outputs"]);
  EXPECT_EQ(hasten_with("plan " + m + " -o " + dir_.file("none/m.hplan")).code, 5);
}

TEST_F(Binary, VerifyFindsWhatOpeningDoesNot) {
  const std::string m = model(), plan = dir_.file("m.hplan");
  ASSERT_EQ(hasten_with("plan " + m + " -o " + plan).code, 0);
  std::fstream file(plan, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);  // the last packed weight, or what pads it
  file.put('\1');
  file.close();
  EXPECT_EQ(hasten_with("run " + plan).code, 0);
  for (const char* verb : {"run", "explain", "inspect"}) {
    const Outcome o = hasten_with(std::string(verb) + " --verify " + plan);
    EXPECT_EQ(o.code, 3) << o.err;
    EXPECT_NE(o.err.find("its weights have been changed"), std::string::npos) << o.err;
  }
  const Outcome onnx = hasten_with("run --verify " + m);
  EXPECT_EQ(onnx.code, 0);
  EXPECT_NE(onnx.err.find("holds no hash"), std::string::npos) << onnx.err;
}

TEST_F(Binary, InterruptedMeasurementsPrintWhatThereIs) {
  // On a busy machine a second may not be enough to begin.
  for (const int seconds : {1, 4, 16}) {
    const Outcome timed = hasten_with("bench --json --seconds 60 " + model(),
                                      fmt::format("timeout --preserve-status -s INT {}", seconds));
    EXPECT_EQ(timed.code, 130) << timed.err;
    if (!timed.json().is_object() || !timed.json()["p50_ms"].is_number()) continue;
    EXPECT_EQ(timed.json()["interrupted"], true);
    return;
  }
  ADD_FAILURE() << "nothing was measured before the interrupt";
}

}  // namespace
}  // namespace hasten
