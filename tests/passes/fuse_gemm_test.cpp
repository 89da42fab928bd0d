// The rewrites of matrix products: where they fire, where they must not, and that answers stay.
#include "tests/passes/pass_harness.h"

namespace hasten::test {
namespace {

constexpr const char* kHead =
    "graph \"g\" opset {\"\": 17}\n"
    "const %w: f32[3,2] = {1, 2, 3, 4, 5, 6}\n"
    "const %wt: f32[2,3] = {1, 3, 5, 2, 4, 6}\n"
    "const %b: f32[2] = {10, 20}\n"
    "const %row: f32[1,1,2] = {10, 20}\n"
    "const %column: f32[2,1] = {10, 20}\n"
    "const %one: f32[] = {0.5}\n"
    "const %zero: f32[] = {0}\n"
    "const %mean: f32[2] = {1, 2}\n"
    "const %variance: f32[2] = {4, 9}\n"
    "in %x: f32[batch,2,3]\n"
    "in %m: f32[rows,3]\n";

std::string graph(const std::string& nodes) { return kHead + nodes; }
std::vector<Tensor> inputs() { return {random_tensor({2, 2, 3}, 1), random_tensor({2, 3}, 2)}; }

TEST(FuseGemmBias, TakesVectorsAndRows) {
  const std::string text = graph("%p = MatMul(%x, %w)\n%y = Add(%b, %p)\nout %y\n");
  EXPECT_EQ(nodes_after("fuse_gemm_bias", text), "%y = hasten::Gemm@1(%x, %w, %b)\n");
  expect_same_answer(text, inputs());
  const std::string row = graph("%p = MatMul(%x, %w)\n%y = Add(%p, %row)\nout %y\n");
  EXPECT_EQ(nodes_after("fuse_gemm_bias", row), "%y = hasten::Gemm@1(%x, %w, %row.row)\n");
  expect_same_answer(row, inputs());
  const std::string one =
      graph("%p = Gemm(%m, %wt) {transB=1, beta=3.0}\n%y = Add(%p, %one)\nout %y\n");
  EXPECT_EQ(nodes_after("fuse_gemm_bias", one),
            "%y = hasten::Gemm@1(%m, %wt, %one.row) {transB=1, beta=1.0}\n");
  expect_same_answer(one, inputs());
}

TEST(FuseGemmBias, TakesVectorsThatAreNoConstants) {
  const std::string text = graph("in %v: f32[2]\n%p = MatMul(%x, %w)\n%y = Add(%p, %v)\nout %y\n");
  EXPECT_EQ(ops_after("fuse_gemm_bias", text), "hasten.Gemm ");
}

TEST(FuseGemmBias, LeavesTheRest) {
  for (const char* nodes : {
           "%p = MatMul(%x, %w)\n%y = Add(%p, %column)\nout %y\n",
           "%p = MatMul(%x, %w)\n%y = Add(%p, %b)\nout %y, %p\n",
           "%p = MatMul(%x, %w)\n%y = Add(%p, %b)\n%z = Mul(%y, %p)\nout %z\n",
           "%p = MatMul(%x, %w)\n%y = Sub(%p, %b)\nout %y\n",
           "%p = Gemm(%m, %w, %b)\n%y = Add(%p, %b)\nout %y\n",
           // The sum has more dims than the product.
           "%p = MatMul(%m, %w)\n%y = Add(%p, %row)\nout %y\n",
           // A batch of matrices.
           "in %n: f32[batch,3,2]\n%p = MatMul(%x, %n)\n%y = Add(%p, %b)\nout %y\n",
           // A vector on the right.
           "in %n: f32[3]\n%p = MatMul(%x, %n)\n%y = Add(%p, %b)\nout %y\n",
       }) {
    EXPECT_TRUE(leaves("fuse_gemm_bias", graph(nodes))) << nodes;
  }
}

TEST(FuseGemmScale, FoldsWhatScalesColumns) {
  const std::string text = graph(
      "%p = MatMul(%x, %w)\n%q = Mul(%b, %p)\n%r = Sub(%one, %q)\n%y = Div(%r, %row)\nout %y\n");
  EXPECT_EQ(nodes_after("fuse_gemm_scale", text), "%y = hasten::Gemm@1(%x, %r.weight, %r.bias)\n");
  expect_same_answer(text, inputs(), 1e-6);
  const std::string gemm = graph(
      "%p = Gemm(%m, %wt, %b) {transB=1}\n"
      "%y = BatchNormalization(%p, %b, %b, %mean, %variance)\nout %y\n");
  EXPECT_EQ(nodes_after("fuse_gemm_scale", gemm),
            "%y = hasten::Gemm@1(%m, %p.weight, %p.bias) {transB=1}\n");
  expect_same_answer(gemm, inputs(), 1e-6);
}

TEST(FuseGemmScale, KeepsWeightsThatOnlyShift) {
  EXPECT_EQ(
      nodes_after("fuse_gemm_scale", graph("%p = Gemm(%m, %w, %b)\n%y = Add(%p, %one)\nout %y\n")),
      "%y = hasten::Gemm@1(%m, %w, %p.bias)\n");
}

TEST(FuseGemmScale, LeavesTheRest) {
  for (const char* nodes : {
           "%p = MatMul(%x, %w)\n%y = Div(%p, %zero)\nout %y\n",
           "%p = MatMul(%x, %w)\n%y = Div(%b, %p)\nout %y\n",
           "%p = MatMul(%x, %w)\n%y = Mul(%p, %column)\nout %y\n",
           "%p = MatMul(%x, %w)\n%y = Mul(%p, %b)\nout %y, %p\n",
           "%p = Gemm(%m, %w) {alpha=2.0}\n%y = Mul(%p, %b)\nout %y\n",
           "in %n: f32[3,2]\n%p = MatMul(%x, %n)\n%y = Mul(%p, %b)\nout %y\n",
           // Channels of [batch,2,2] lie along axis 1, columns along axis 2.
           "%p = MatMul(%x, %w)\n%y = BatchNormalization(%p, %b, %b, %mean, %variance)\nout %y\n",
       }) {
    EXPECT_TRUE(leaves("fuse_gemm_scale", graph(nodes))) << nodes;
  }
}

TEST(FuseGemmAdd, AddsOnlyWhatHasItsShape) {
  const std::string text =
      graph("in %r: f32[batch,2,2]\n%p = MatMul(%x, %w)\n%y = Add(%r, %p)\nout %y\n");
  EXPECT_EQ(nodes_after("fuse_gemm_add", text), "%y = hasten::Gemm@1(%x, %w, _, %r)\n");
  std::vector<Tensor> in = inputs();
  in.push_back(random_tensor({2, 2, 2}, 3));
  expect_same_answer(text, in);
  for (const char* nodes : {
           "in %r: f32[other,2,2]\n%p = MatMul(%x, %w)\n%y = Add(%r, %p)\nout %y\n",
           "in %r: f32[1,2,2]\n%p = MatMul(%x, %w)\n%y = Add(%r, %p)\nout %y\n",
           "in %r: f32[batch,2,2]\n%p = MatMul(%x, %w)\n%y = Add(%r, %p)\nout %y, %p\n",
           "%p = MatMul(%x, %w)\n%y = Add(%p, %p)\nout %y\n",
       }) {
    EXPECT_TRUE(leaves("fuse_gemm_add", graph(nodes))) << nodes;
  }
}

TEST(FuseGemmAdd, TheLaterOfTwoProducts) {
  const std::string text =
      graph("%p = MatMul(%x, %w)\n%q = MatMul(%x, %w)\n%y = Add(%p, %q)\nout %y\n");
  EXPECT_EQ(nodes_after("fuse_gemm_add", text),
            "%p = MatMul(%x, %w)\n%y = hasten::Gemm@1(%x, %w, _, %p)\n");
  expect_same_answer(text, inputs());
}

TEST(FuseGemmActivation, AppliesIt) {
  const std::string text = graph("%p = Gemm(%m, %w, %b) {alpha=0.5}\n%y = Relu(%p)\nout %y\n");
  EXPECT_EQ(nodes_after("fuse_gemm_activation", text),
            "%y = hasten::Gemm@1(%m, %w, %b) {alpha=0.5, activation=\"relu\"}\n");
  expect_same_answer(text, inputs());
  for (const char* nodes : {
           "%p = Gemm(%m, %w, %b)\n%y = Relu(%p)\nout %y, %p\n",
           "%p = Gemm(%m, %w, %b)\n%y = Exp(%p)\nout %y\n",
           // C is a column or a matrix.
           "%p = Gemm(%m, %w, %column)\n%y = Relu(%p)\nout %y\n",
           "in %c: f32[rows,2]\n%p = Gemm(%m, %w, %c)\n%y = Relu(%p)\nout %y\n",
       }) {
    EXPECT_TRUE(leaves("fuse_gemm_activation", graph(nodes))) << nodes;
  }
}

TEST(FuseGemm, AWholeLayerIsOneNode) {
  const std::string text = graph(
      "in %r: f32[batch,2,2]\n"
      "%p = MatMul(%x, %w)\n%q = Add(%p, %b)\n%s = Add(%q, %r)\n%y = Tanh(%s)\nout %y\n");
  auto after = graph_after(
      {"fuse_gemm_bias", "fuse_gemm_scale", "fuse_gemm_add", "fuse_gemm_activation"}, text);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->main.nodes.size(), 1u);
  std::vector<Tensor> in = inputs();
  in.push_back(random_tensor({2, 2, 2}, 3));
  expect_same_answer(text, in);
}

TEST(FuseGemm, TransposedOperands) {
  const std::string text =
      "graph \"g\" opset {\"\": 17}\n"
      "const %wt: f32[2,3] = {1, 3, 5, 2, 4, 6}\n"
      "const %c: f32[1,2] = {10, 20}\n"
      "in %a: f32[3,rows]\n"
      "%p = Gemm(%a, %wt, %c) {transA=1, transB=1, alpha=0.3, beta=1.7}\n"
      "%y = Sigmoid(%p)\nout %y\n";
  EXPECT_EQ(ops_after("fuse_gemm_activation", text), "hasten.Gemm ");
  expect_same_answer(text, {random_tensor({3, 5}, 1)});
}

}  // namespace
}  // namespace hasten::test
