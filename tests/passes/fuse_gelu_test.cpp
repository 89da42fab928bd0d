#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

constexpr const char* kHead =
    "graph \"g\" opset {\"\": 17}\n"
    "const %root2: f32[] = {1.4142135}\n"
    "const %rootHalf: f32[1] = {0.70710677}\n"
    "const %half: f32[] = {0.5}\n"
    "const %one: f32[1] = {1}\n"
    "const %two: f32[] = {2}\n"
    "const %three: i64[] = {3}\n"
    "const %cubic: f32[] = {0.044715}\n"
    "const %slope: f32[] = {0.7978846}\n"
    "const %ones: f32[1,1,1] = {1}\n"
    "in %x: f32[n,7]\n";

std::string graph(const std::string& nodes) { return kHead + nodes; }

const char* const kErf[] = {
    "%d = Div(%x, %root2)\n%e = Erf(%d)\n%a = Add(%e, %one)\n%m = Mul(%x, %a)\n"
    "%y = Mul(%m, %half)\nout %y\n",
    "%d = Mul(%rootHalf, %x)\n%e = Erf(%d)\n%a = Add(%one, %e)\n%h = Mul(%x, %half)\n"
    "%y = Mul(%h, %a)\nout %y\n",
    "%d = Mul(%x, %rootHalf)\n%e = Erf(%d)\n%a = Add(%e, %one)\n%h = Mul(%a, %half)\n"
    "%y = Mul(%x, %h)\nout %y\n",
    "%d = Div(%x, %root2)\n%e = Erf(%d)\n%a = Add(%e, %one)\n%m = Mul(%a, %x)\n"
    "%y = Div(%m, %two)\nout %y\n",
};

TEST(FuseGelu, ErfInEveryOrder) {
  for (const char* nodes : kErf) {
    EXPECT_EQ(nodes_after("fuse_gelu", graph(nodes)), "%y = Gelu@20(%x)\n") << nodes;
    expect_same_answer(graph(nodes), {random_tensor({50, 7}, 1, -8, 8)}, 1e-6);
  }
}

TEST(FuseGelu, Tanh) {
  for (const char* cube : {"%x3 = Pow(%x, %three)\n%c = Mul(%x3, %cubic)\n",
                           "%x1 = Mul(%cubic, %x)\n%x2 = Mul(%x, %x1)\n%c = Mul(%x, %x2)\n"}) {
    const std::string text =
        graph(std::string(cube) +
              "%s = Add(%x, %c)\n%i = Mul(%s, %slope)\n%t = Tanh(%i)\n%a = Add(%one, %t)\n"
              "%g = Mul(%half, %a)\n%y = Mul(%x, %g)\nout %y\n");
    EXPECT_EQ(nodes_after("fuse_gelu", text), "%y = Gelu@20(%x) {approximate=\"tanh\"}\n");
    expect_same_answer(text, {random_tensor({50, 7}, 1, -8, 8)}, 1e-6);
  }
}

TEST(FuseGelu, KnownValues) {  // of math.erf
  Tensor x = Tensor::floats({1, 7}, std::vector<float>{-3, -1, -0.5f, 0, 0.5f, 1, 3});
  const auto y = elements(expect_same_answer(graph(kErf[0]), {x}, 1e-6)[0]);
  const float want[] = {-0.00404951f, -0.15865525f, -0.15426877f, 0,
                        0.34573123f,  0.84134475f,  2.9959505f};
  for (size_t i = 0; i < 7; ++i) EXPECT_NEAR(y[i], want[i], 1e-6);
}

TEST(FuseGelu, LeavesTheRest) {
  for (const char* nodes : {
           // 1 instead of 0.5.
           "%d = Div(%x, %root2)\n%e = Erf(%d)\n%a = Add(%e, %one)\n%y = Mul(%x, %a)\nout %y\n",
           // x / 2 under erf.
           "%d = Div(%x, %two)\n%e = Erf(%d)\n%a = Add(%e, %one)\n%m = Mul(%x, %a)\n"
           "%y = Mul(%m, %half)\nout %y\n",
           // erf + 2.
           "%d = Div(%x, %root2)\n%e = Erf(%d)\n%a = Add(%e, %two)\n%m = Mul(%x, %a)\n"
           "%y = Mul(%m, %half)\nout %y\n",
           // The operand of erf is another value.
           "in %z: f32[n,7]\n%d = Div(%z, %root2)\n%e = Erf(%d)\n%a = Add(%e, %one)\n"
           "%m = Mul(%x, %a)\n%y = Mul(%m, %half)\nout %y\n",
           // Others read what lies between.
           "%d = Div(%x, %root2)\n%e = Erf(%d)\n%a = Add(%e, %one)\n%m = Mul(%x, %a)\n"
           "%y = Mul(%m, %half)\nout %y, %e\n",
           "%d = Div(%x, %root2)\n%e = Erf(%d)\n%a = Add(%e, %one)\n%m = Mul(%x, %a)\n"
           "%y = Mul(%m, %half)\n%z = Add(%y, %d)\nout %z\n",
           // More dims than x.
           "%d = Div(%x, %root2)\n%e = Erf(%d)\n%a = Add(%e, %ones)\n%m = Mul(%x, %a)\n"
           "%y = Mul(%m, %half)\nout %y\n",
       }) {
    EXPECT_TRUE(leaves("fuse_gelu", graph(nodes))) << nodes;
  }
}

TEST(FuseGelu, BecomesTheActivationOfAProduct) {
  auto after = graph_after({"fuse_gelu", "fuse_gemm_activation"},
                           graph("in %w: f32[7,7]\n%p = MatMul(%x, %w)\n"
                                 "%d = Div(%p, %root2)\n%e = Erf(%d)\n%a = Add(%e, %one)\n"
                                 "%m = Mul(%p, %a)\n%y = Mul(%m, %half)\nout %y\n"));
  ASSERT_TRUE(after) << after.error().message;
  ASSERT_EQ(after->main.nodes.size(), 1u);
  EXPECT_EQ(after->main.nodes[0].attr_string("activation", ""), "gelu");
}

}  // namespace
}  // namespace hasten::test
