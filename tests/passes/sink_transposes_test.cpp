#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

std::string graph(const std::string& body) { return "graph \"g\" opset {\"\": 18}\n" + body; }

TEST(SinkTransposes, MeetAndVanish) {
  // What tf2onnx writes: convolutions in NCHW, the rest in NHWC.
  const std::string text = graph(
      "const %w: f32[4,4,1,1] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}\n"
      "const %b: f32[4] = {1, 2, 3, 4}\nin %x: f32[1,4,2,3]\n"
      "%c = Conv(%x, %w)\n%t = Transpose(%c) {perm=[0,2,3,1]}\n%a = Add(%t, %b)\n%r = Relu(%a)\n"
      "%u = Transpose(%r) {perm=[0,3,1,2]}\n%y = Conv(%u, %w)\nout %y\n");
  EXPECT_EQ(ops_after("sink_transposes", text), "Conv Add Relu Conv ");
}

TEST(SinkTransposes, PastEveryKind) {
  const std::string start = "in %x: f32[2,3,4,5]\nin %z: f32[2,3,4,5]\n";
  const std::string two =
      "%t = Transpose(%x) {perm=[0,2,3,1]}\n%u = Transpose(%z) {perm=[0,2,3,1]}\n";
  const std::string back = "%y = Transpose(%v) {perm=[0,3,1,2]}\nout %y\n";
  const auto after = [&](const std::string& constants, const std::string& node) {
    return ops_after("sink_transposes", graph(constants + start + two + node + "\n" + back));
  };
  EXPECT_EQ(after("", "%v = Mul(%t, %u)"), "Mul Identity ");
  EXPECT_EQ(after("", "%v = Concat(%t, %u) {axis=-1}"), "Concat Identity ");
  EXPECT_EQ(after("const %p: i64[8] = {0, 1, 0, 2, 0, 0, 3, 0}\n", "%v = Pad(%t, %p)"),
            "Pad Identity ");
  EXPECT_EQ(after("const %a: i64[2] = {1, 2}\n", "%v = ReduceMean(%t, %a) {keepdims=1}"),
            "ReduceMean Identity ");
  EXPECT_EQ(after("const %c: f32[5,1] = {1, 2, 3, 4, 5}\n", "%v = Sub(%c, %t)"), "Sub Identity ");
  EXPECT_EQ(after("", "%c = Cast(%t) {to=10}\n%v = Cast(%c) {to=1}"), "Cast Cast Identity ");
}

TEST(SinkTransposes, StayWhereNothingIsWon) {
  const std::string one =
      graph("in %x: f32[2,3,4]\n%t = Transpose(%x) {perm=[0,2,1]}\n%y = Relu(%t)\nout %y\n");
  EXPECT_EQ(ops_after("sink_transposes", one), "Transpose Relu ");
  // Other orders of axes do not meet.
  const std::string apart = graph(
      "in %x: f32[3,3,3]\n%t = Transpose(%x) {perm=[0,2,1]}\n%u = Transpose(%x) {perm=[1,0,2]}\n"
      "%y = Add(%t, %u)\nout %y\n");
  EXPECT_EQ(ops_after("sink_transposes", apart), "Transpose Transpose Add ");
}

TEST(SinkTransposes, SameResults) {
  const std::string constants =
      "const %p: i64[8] = {0, 1, 0, 2, 0, 0, 3, 0}\nconst %c: f32[5,1] = {1, 2, 3, 4, 5}\n"
      "const %m: i64[2] = {1, -2}\nconst %s: f32[] = {0.5}\n";
  const std::string text = graph(
      constants +
      "in %x: f32[2,3,4,5]\n%t = Transpose(%x) {perm=[0,2,3,1]}\n%a = Sub(%c, %t)\n%r = Relu(%a)\n"
      "%d = Mul(%r, %s)\n%q = Concat(%d, %t) {axis=3}\n%e = Pad(%q, %p)\n%f = Max(%e, %e)\n"
      "%o = ReduceSum(%f, %m) {keepdims=0}\n%y = Transpose(%f) {perm=[0,3,1,2]}\nout %y, %o\n");
  EXPECT_EQ(ops_after("sink_transposes", text).find("Transpose"), std::string::npos)
      << ops_after("sink_transposes", text);
  expect_same_answer(text, {random_tensor({2, 3, 4, 5})}, 1e-6);
}

}  // namespace
}  // namespace hasten::test
