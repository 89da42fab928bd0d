#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

constexpr const char* kHead =
    "graph \"g\" opset {\"\": 17}\n"
    "const %three: f32[] = {3}\n"
    "const %zero: f32[] = {0}\n"
    "const %six: f32[] = {6}\n"
    "const %five: f32[] = {5}\n"
    "const %sixth: f32[] = {0.16666667}\n"
    "in %x: f32[n,9]\n";

std::string graph(const std::string& nodes) { return kHead + nodes; }
Tensor wide() {
  Tensor x = random_tensor({30, 9}, 1, -9, 9);
  x.mutable_as<float>()[0] = INFINITY;
  x.mutable_as<float>()[1] = -INFINITY;
  x.mutable_as<float>()[2] = NAN;
  x.mutable_as<float>()[3] = -0.0f;
  return x;
}

TEST(FuseSilu, EitherOrder) {
  for (const char* nodes : {"%s = Sigmoid(%x)\n%y = Mul(%x, %s)\nout %y\n",
                            "%s = Sigmoid(%x)\n%y = Mul(%s, %x)\nout %y\n"}) {
    EXPECT_EQ(nodes_after("fuse_silu", graph(nodes)), "%y = hasten::Silu@1(%x)\n");
    const auto y = elements(expect_same_answer(graph(nodes), {wide()})[0]);
    EXPECT_TRUE(y[3] == 0 && std::signbit(y[3]));
  }
}

TEST(FuseSilu, LeavesTheRest) {
  for (const char* nodes : {
           "%s = Sigmoid(%x)\n%y = Mul(%s, %s)\nout %y\n",
           "%s = Sigmoid(%x)\n%y = Mul(%x, %s)\nout %y, %s\n",
           "%s = Sigmoid(%x)\n%m = Mul(%x, %s)\n%y = Add(%m, %s)\nout %y\n",
           "in %z: f32[n,9]\n%s = Sigmoid(%x)\n%y = Mul(%z, %s)\nout %y\n",
           "%s = Sigmoid(%x)\n%y = Add(%x, %s)\nout %y\n",
           "in %h: f16[4]\n%s = Sigmoid(%h)\n%y = Mul(%h, %s)\nout %y\n",
       }) {
    EXPECT_TRUE(leaves("fuse_silu", graph(nodes))) << nodes;
  }
}

TEST(FuseHardSwish, EveryForm) {
  for (const char* nodes : {
           "%s = HardSigmoid(%x) {alpha=0.16666667, beta=0.5}\n%y = Mul(%s, %x)\nout %y\n",
           "%a = Add(%x, %three)\n%c = Clip(%a, %zero, %six)\n%m = Mul(%x, %c)\n"
           "%y = Div(%m, %six)\nout %y\n",
           "%a = Add(%three, %x)\n%c = Clip(%a, %zero, %six)\n%d = Div(%c, %six)\n"
           "%y = Mul(%d, %x)\nout %y\n",
           "%a = Add(%x, %three)\n%c = Clip(%a, %zero, %six)\n%d = Mul(%c, %sixth)\n"
           "%y = Mul(%x, %d)\nout %y\n",
       }) {
    EXPECT_EQ(nodes_after("fuse_hard_swish", graph(nodes)), "%y = HardSwish@14(%x)\n") << nodes;
    expect_same_answer(graph(nodes), {wide()}, 1e-6);
  }
}

TEST(FuseHardSwish, LeavesTheRest) {
  for (const char* nodes : {
           "%s = HardSigmoid(%x)\n%y = Mul(%s, %x)\nout %y\n",
           "%s = HardSigmoid(%x) {alpha=0.16666667, beta=0.5}\n%m = Mul(%s, %x)\n"
           "%y = Div(%m, %six)\nout %y, %m\n",
           "%a = Add(%x, %three)\n%c = Clip(%a, %zero, %six)\n%m = Mul(%x, %c)\n"
           "%y = Div(%m, %five)\nout %y\n",
           "%a = Add(%x, %five)\n%c = Clip(%a, %zero, %six)\n%m = Mul(%x, %c)\n"
           "%y = Div(%m, %six)\nout %y\n",
           "%a = Add(%x, %three)\n%c = Clip(%a, %zero, %five)\n%m = Mul(%x, %c)\n"
           "%y = Div(%m, %six)\nout %y\n",
           "%a = Add(%x, %three)\n%c = Clip(%a, %zero, %six)\n%m = Mul(%x, %c)\n"
           "%y = Div(%m, %six)\nout %y, %c\n",
           "%a = Add(%x, %three)\n%c = Clip(%a, %zero, %six)\n%m = Mul(%x, %c)\n"
           "%y = Div(%six, %m)\nout %y\n",
       }) {
    const std::string text = graph(nodes);
    if (text.find("%m = Mul(%s, %x)") != std::string::npos) {
      // The product itself is one; what follows stays.
      EXPECT_EQ(ops_after("fuse_hard_swish", text), "HardSwish Div ");
      continue;
    }
    EXPECT_TRUE(leaves("fuse_hard_swish", text)) << nodes;
  }
}

}  // namespace
}  // namespace hasten::test
