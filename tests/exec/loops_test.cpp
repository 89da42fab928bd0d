// Subgraphs as the engine runs them: branches, loops, scans, sequences.
#include <gtest/gtest.h>

#include "engine/exec/native.h"
#include "engine/ir/text.h"
#include "engine/ops/bind.h"

namespace hasten::test {
namespace {

const std::string kHead = "graph \"g\" opset {\"\": 17}\n";

/// Runs a graph's text twice (the second run finds all plans made); outputs as text, or the error.
std::string run(const std::string& text, const std::vector<Tensor>& inputs,
                EngineOptions options = {}) {
  const auto attempt = [&]() -> Result<std::string> {
    HASTEN_TRY(const auto context, Context::make());
    HASTEN_TRY(Graph graph, parse_graph(kHead + text));
    HASTEN_CHECK(bind_graph(graph));
    HASTEN_TRY(const auto engine, NativeEngine::compile(*context, std::move(graph), options));
    HASTEN_TRY(const auto runner, engine->make_runner());
    std::vector<TensorView> views;
    for (const Tensor& t : inputs) views.push_back(t.view());
    std::string first, out;
    for (int round = 0; round < 2; ++round) {
      HASTEN_CHECK(runner->bind(views));
      HASTEN_CHECK(runner->run());
      out.clear();
      for (const TensorView& v : runner->outputs()) {
        out += fmt::format("{}{}", out.empty() ? "" : " ", dims_text(v.dims));
        if (v.dtype == DType::kSequence) {
          for (int64_t i = 0; i < v.count(); ++i) {
            const Tensor& t = v.as<Tensor>()[i];
            out += dims_text(t.dims()) + tensor_text(t.view(), t.count());
          }
        } else {
          out += tensor_text(v, v.count());
        }
      }
      if (round == 0) first = out;
    }
    return first == out ? out : first + " then " + out;
  };
  const auto result = attempt();
  return result ? *result : result.error().message;
}

Tensor f32(std::vector<float> v) { return Tensor::floats({static_cast<int64_t>(v.size())}, v); }
Tensor scalar(int64_t v) { return Tensor::ints({}, {&v, 1}); }
Tensor truth(bool v) { return Tensor::of<bool>(DType::kBool, {}, std::span(&v, 1)); }

// Cases M16 of onnxruntime#729, #11536, #32609.
TEST(If, BranchesSeeTheGraphAroundThem) {
  const std::string text =
      "const %k: f32[2] = {10, 20}\nin %c: bool[]\nin %x: f32[2]\n"
      "%y = If(%c)\n  then_branch:\n    %t = Add(%x, %k)\n    out %t\n"
      "  else_branch:\n    out %x\nout %y\n";
  EXPECT_EQ(run(text, {truth(true), f32({1, 2})}), "[2]{11, 22}");
  // A branch without nodes that returns an outer value is fine.
  EXPECT_EQ(run(text, {truth(false), f32({1, 2})}), "[2]{1, 2}");
}

const std::string kCount =
    "const %k: f32[2] = {1, 1}\nin %m: i64[]\nin %x: f32[2]\n"
    "%last, %all = Loop(%m, _, %x)\n  body:\n    in %i: i64[]\n    in %c: bool[]\n"
    "    in %s: f32[2]\n    %n = Add(%s, %k)\n    %again = Identity(%c)\n"
    "    out %again, %n, %n\nout %last, %all\n";

TEST(Loop, CarriesStateAndStacksOutputs) {
  EXPECT_EQ(run(kCount, {scalar(3), f32({1, 2})}), "[2]{4, 5} [3,2]{2, 3, 3, 4, 4, 5}");
  EXPECT_EQ(run(kCount, {scalar(0), f32({1, 2})}), "[2]{1, 2} [0,2]{}");
  EXPECT_EQ(run(kCount, {scalar(-1), f32({1, 2})}), "[2]{1, 2} [0,2]{}");
}

TEST(Loop, StopsWhenItsConditionSaysSo) {
  const std::string text =
      "const %limit: f32[] = {20}\nconst %yes: bool[] = {true}\nin %x: f32[]\n"
      "%last, %all = Loop(_, %yes, %x)\n  body:\n    in %i: i64[]\n    in %c: bool[]\n"
      "    in %s: f32[]\n    %n = Add(%s, %s)\n    %again = Less(%n, %limit)\n"
      "    out %again, %n, %i\nout %last, %all\n";
  const float x = 3;
  EXPECT_EQ(run(text, {Tensor::floats({}, {&x, 1})}), "[]{24} [3]{0, 1, 2}");
}

TEST(Loop, StateMayGrow) {
  const std::string text =
      "in %m: i64[]\nin %x: f32[n]\n%y = Loop(%m, _, %x)\n  body:\n    in %i: i64[]\n"
      "    in %c: bool[]\n    in %s\n    %n = Concat(%s, %x) {axis=0}\n    out %c, %n\nout %y\n";
  EXPECT_EQ(run(text, {scalar(2), f32({1, 2})}), "[6]{1, 2, 1, 2, 1, 2}");
}

TEST(Loop, StatesMaySwap) {
  const std::string text =
      "in %m: i64[]\nin %x: f32[1]\nin %z: f32[1]\n%p, %q = Loop(%m, _, %x, %z)\n  body:\n"
      "    in %i: i64[]\n    in %c: bool[]\n    in %a: f32[1]\n    in %b: f32[1]\n"
      "    out %c, %b, %a\nout %p, %q\n";
  EXPECT_EQ(run(text, {scalar(1), f32({1}), f32({2})}), "[1]{2} [1]{1}");
  EXPECT_EQ(run(text, {scalar(2), f32({1}), f32({2})}), "[1]{1} [1]{2}");
}

TEST(Loop, LoopsNest) {
  // Sum over i < 3 of sum over j < i of x.
  const std::string text =
      "const %three: i64[] = {3}\nconst %zero: f32[1] = {0}\nin %x: f32[1]\n"
      "%y = Loop(%three, _, %zero)\n  body:\n    in %i: i64[]\n    in %c: bool[]\n"
      "    in %s: f32[1]\n    %t = Loop(%i, _, %s)\n      body:\n        in %j: i64[]\n"
      "        in %d: bool[]\n        in %u: f32[1]\n        %v = Add(%u, %x)\n"
      "        out %d, %v\n    out %c, %t\nout %y\n";
  EXPECT_EQ(run(text, {f32({5})}), "[1]{15}");
}

TEST(Loop, ScanOutputsOfOneShapeOnly) {
  const std::string text =
      "const %one: i64[1] = {1}\nin %m: i64[]\nin %x: f32[1]\n%y, %all = Loop(%m, _, %x)\n  body:\n"
      "    in %i: i64[]\n    in %c: bool[]\n    in %s\n    %n = Concat(%s, %x) {axis=0}\n"
      "    out %c, %n, %n\nout %y, %all\n";
  EXPECT_EQ(run(text, {scalar(2), f32({1})}),
            "node (Loop): scan output 0 is f32[3] in iteration 1, it was f32[2] before: all "
            "must have one shape");
}

TEST(Loop, WhatItCollectsHasALimit) {
  EngineOptions options;
  options.memory_limit = 4096;
  EXPECT_EQ(run(kCount, {scalar(3), f32({1, 2})}, options), "[2]{4, 5} [3,2]{2, 3, 3, 4, 4, 5}");
  EXPECT_EQ(run(kCount, {scalar(10000), f32({1, 2})}, options),
            "node (Loop): scan output 0 needs more than the limit of 4096 bytes: raise "
            "--memory-limit or give smaller inputs");
}

TEST(Loop, ChecksItsBody) {
  EXPECT_EQ(run("in %m: i64[]\nin %x: f32[1]\n%y = Loop(%m, _, %x)\n  body:\n    in %i: i64[]\n"
                "    in %c: bool[]\n    out %c, %x\nout %y\n",
                {scalar(1), f32({1})}),
            "node (Loop): body has 2 inputs, the node gives it 3");
}

TEST(Scan, AlongAnyAxisInAnyDirection) {
  // Running sums of the columns of [2,3], from behind.
  const std::string text =
      "in %s: f32[2]\nin %x: f32[2,3]\n%last, %sums = Scan(%s, %x) {num_scan_inputs=1, "
      "scan_input_axes=[-1], scan_input_directions=[1], scan_output_axes=[1], "
      "scan_output_directions=[1]}\n  body:\n    in %a: f32[2]\n    in %b: f32[2]\n"
      "    %n = Add(%a, %b)\n    out %n, %n\nout %last, %sums\n";
  const std::vector<float> x = {1, 2, 3, 10, 20, 30};
  EXPECT_EQ(run(text, {f32({0, 0}), Tensor::floats({2, 3}, x)}),
            "[2]{6, 60} [2,3]{6, 5, 3, 60, 50, 30}");
}

TEST(Sequences, AreBuiltAndTakenApart) {
  const std::string text =
      "const %first: i64[] = {-3}\nconst %p: i64[] = {1}\nin %a: f32[n]\nin %b: f32[k]\n"
      "%s = SequenceConstruct(%a, %b)\n%t = SequenceInsert(%s, %b, %p)\n%l = SequenceLength(%t)\n"
      "%x = SequenceAt(%t, %first)\n%e = SequenceErase(%t, %p)\n"
      "%c = ConcatFromSequence(%t) {axis=0}\nout %l, %x, %e, %c\n";
  EXPECT_EQ(run(text, {f32({1}), f32({2, 3})}),
            "[]{3} [1]{1} [2][1]{1}[2]{2, 3} [5]{1, 2, 3, 2, 3}");
}

TEST(Sequences, PositionsAreChecked) {
  EXPECT_EQ(run("in %a: f32[1]\nin %p: i64[]\n%s = SequenceConstruct(%a)\n"
                "%x = SequenceAt(%s, %p) \"take\"\nout %x\n",
                {f32({1}), scalar(1)}),
            "node 'take' (SequenceAt): position 1 of a sequence of 1: it must be -1 to 0");
}

TEST(Sequences, GrowInLoops) {
  const std::string text =
      "in %m: i64[]\nin %x: f32[1]\n%e = SequenceEmpty()\n%s = Loop(%m, _, %e)\n  body:\n"
      "    in %i: i64[]\n    in %c: bool[]\n    in %q: seq(f32)[?0]\n    %f = Cast(%i) {to=1}\n"
      "    %v = Add(%x, %f)\n    %n = SequenceInsert(%q, %v)\n    out %c, %n\n"
      "%y = ConcatFromSequence(%s) {axis=0}\nout %y, %s\n";
  EXPECT_EQ(run(text, {scalar(3), f32({5})}), "[3]{5, 6, 7} [3][1]{5}[1]{6}[1]{7}");
}

TEST(Sequences, OperatorsOnTensorsRefuseThem) {
  EXPECT_EQ(
      run("in %a: f32[1]\n%s = SequenceConstruct(%a)\n%y = Relu(%s) \"r\"\nout %y\n", {f32({1})}),
      "node 'r' (Relu): input 0 is seq(f32)[1], the operator takes tensors");
}

TEST(SequenceMap, CallsItsBodyForEachTensor) {
  const std::string text =
      "in %a: f32[n]\nin %b: f32[k]\nin %t: f32[1]\n%s = SequenceConstruct(%a, %b)\n"
      "%y = SequenceMap(%s, %t)\n  body:\n    in %e\n    in %f: f32[1]\n    %z = Mul(%e, %f)\n"
      "    out %z\nout %y\n";
  EXPECT_EQ(run(text, {f32({1}), f32({2, 3}), f32({10})}), "[2][1]{10}[2]{20, 30}");
}

TEST(OptionalValues, AreThereOrNot) {
  const std::string text =
      "in %c: bool[]\nin %x: f32[2]\n%o = If(%c)\n  then_branch:\n    %t = Optional(%x)\n"
      "    out %t\n  else_branch:\n    %u = Optional() {type=\"f32\"}\n    out %u\n"
      "%h = OptionalHasElement(%o)\n%y = If(%h)\n  then_branch:\n    %g = OptionalGetElement(%o)\n"
      "    out %g\n  else_branch:\n    %n = Neg(%x)\n    out %n\nout %h, %y\n";
  EXPECT_EQ(run(text, {truth(true), f32({1, 2})}), "[]{true} [2]{1, 2}");
  EXPECT_EQ(run(text, {truth(false), f32({1, 2})}), "[]{false} [2]{-1, -2}");
}

}  // namespace
}  // namespace hasten::test
