#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

std::string head(const std::string& scale = "f32[5] = {1, -2, 3, 0.5, 2}") {
  return "graph \"g\" opset {\"\": 17}\n"
         "const %two: f32[] = {2}\n"
         "const %three: f32[] = {3}\n"
         "const %itwo: i64[1] = {2}\n"
         "const %eps: f32[] = {0.001}\n"
         "const %epss: f32[5] = {0.001, 0.001, 0.001, 0.001, 0.001}\n"
         "const %scale: " +
         scale +
         "\n"
         "const %shift: f32[5] = {1, 2, 3, 4, 5}\n"
         "in %x: f32[n,s,5]\n";
}
const std::string kStatistics =
    "%m = ReduceMean(%x) {axes=[-1]}\n%d = Sub(%x, %m)\n%p = Pow(%d, %two)\n"
    "%v = ReduceMean(%p) {axes=[2]}\n%e = Add(%v, %eps)\n%q = Sqrt(%e)\n";
const std::string kNorm = kStatistics + "%n = Div(%d, %q)\n";
const std::string kTail = "%k = Mul(%n, %scale)\n%y = Add(%shift, %k)\nout %y\n";

void expect_fused(const std::string& text, const std::string& nodes) {
  EXPECT_EQ(nodes_after("fuse_layer_norm", text), nodes);
  expect_same_answer(text, {random_tensor({2, 3, 5}, 1)}, 1e-5);
}

TEST(FuseLayerNorm, AsExportersWriteIt) {
  expect_fused(head() + kNorm + kTail,
               "%y = LayerNormalization(%x, %scale, %shift) {axis=2, epsilon=0.001}\n");
}

TEST(FuseLayerNorm, Variants) {
  const std::string fused = "%y = LayerNormalization(%x, %scale, %shift) {axis=2, epsilon=0.001}\n";
  const std::string square =
      "%m = ReduceMean(%x) {axes=[-1]}\n%d = Sub(%x, %m)\n%p = Mul(%d, %d)\n"
      "%v = ReduceMean(%p) {axes=[2]}\n%e = Add(%eps, %v)\n%q = Sqrt(%e)\n";
  expect_fused(head() + square + "%n = Div(%d, %q)\n" + kTail, fused);
  expect_fused(head() + square + "%r = Reciprocal(%q)\n%n = Mul(%d, %r)\n" + kTail, fused);
  std::string power = head() + kNorm + kTail;
  power.replace(power.find("%d, %two"), 8, "%d, %itwo");
  expect_fused(power, fused);
}

TEST(FuseLayerNorm, WithoutShiftOrScale) {
  expect_fused(head() + kNorm + "%y = Mul(%scale, %n)\nout %y\n",
               "%y = LayerNormalization(%x, %scale) {axis=2, epsilon=0.001}\n");
  expect_fused(head() + kNorm + "%y = Relu(%n)\nout %y\n",
               "%n = LayerNormalization(%x, %x.ones) {axis=2, epsilon=0.001}\n%y = Relu(%n)\n");
}

// A scale that would broadcast stays a Mul of its own; so does one of another length.
TEST(FuseLayerNorm, ScaleOfOtherDims) {
  const std::string text = head("f32[1] = {2}") + kNorm + "%y = Mul(%n, %scale)\nout %y\n";
  expect_fused(text,
               "%n = LayerNormalization(%x, %x.ones) {axis=2, epsilon=0.001}\n"
               "%y = Mul(%n, %scale)\n");
  std::string one = head("f32[2] = {1, 2}") + kNorm + "%y = Mul(%n, %scale)\nout %y\n";
  one.replace(one.find("f32[n,s,5]"), 10, "f32[n,s,1]");
  const auto y = expect_same_answer(one, {random_tensor({2, 3, 1}, 1)}, 1e-5);
  EXPECT_EQ(y[0].dims(), (Dims{2, 3, 2}));
}

TEST(FuseLayerNorm, LeavesTheRest) {
  const auto with = [&](const char* from, const char* to) {
    std::string text = head() + kNorm + kTail;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, std::string(from).size(), to);
  };
  for (const std::string& text : {
           with("axes=[-1]", "axes=[1]"),       // not the last axis
           with("axes=[-1]", "axes=[-2,-1]"),   // two different sets
           with("(%d, %two)", "(%d, %three)"),  // not a square
           with("(%v, %eps)", "(%v, %epss)"),   // not one epsilon
           with("Sub(%x, %m)", "Sub(%m, %x)"),  // the other sign
           with("Div(%d, %q)", "Div(%q, %d)"),
           with("Div(%d, %q)", "Div(%x, %q)"),  // not centred
           with("out %y", "out %y, %d"),        // read from outside
           with("out %y", "out %y, %v"),
           with("out %y", "%z = Add(%y, %q)\nout %z"),
       }) {
    EXPECT_TRUE(leaves("fuse_layer_norm", text)) << text;
  }
}

TEST(FuseLayerNorm, SeveralLastAxes) {
  const std::string text =
      "graph \"g\" opset {\"\": 17}\n"
      "const %two: f32[] = {2}\nconst %eps: f32[] = {0.001}\n"
      "in %scale: f32[3,5]\nin %x: f32[n,3,5]\n"
      "%m = ReduceMean(%x) {axes=[1,2]}\n%d = Sub(%x, %m)\n%p = Pow(%d, %two)\n"
      "%v = ReduceMean(%p) {axes=[2,1]}\n%e = Add(%v, %eps)\n%q = Sqrt(%e)\n%n = Div(%d, %q)\n"
      "%y = Mul(%n, %scale)\nout %y\n";
  EXPECT_EQ(nodes_after("fuse_layer_norm", text),
            "%y = LayerNormalization(%x, %scale) {axis=1, epsilon=0.001}\n");
  expect_same_answer(text, {random_tensor({3, 5}, 2), random_tensor({2, 3, 5}, 1)}, 1e-5);
}

}  // namespace
}  // namespace hasten::test
