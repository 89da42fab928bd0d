#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

constexpr Tolerance kClose{1e-5, 1e-5};

OpCase fused(std::vector<Tensor> in, Attrs attrs) {
  OpCase c = make_case("Gemm", 1, std::move(in), std::move(attrs), 1, "hasten");
  c.constant.assign(c.inputs.size(), false);
  c.constant[1] = true;
  return c;
}

}  // namespace

TEST(FusedGemm, AddsBiasAndResidualThenActivates) {
  struct Kind {
    const char* name;
    std::vector<float> params;
  };
  for (const Kind& kind :
       {Kind{"none", {}}, Kind{"relu", {}}, Kind{"clip", {-0.5f, 1}}, Kind{"leaky_relu", {0.1f}},
        Kind{"hard_sigmoid", {0.2f, 0.5f}}, Kind{"hard_swish", {}}, Kind{"sigmoid", {}},
        Kind{"tanh", {}}, Kind{"silu", {}}, Kind{"gelu", {}}}) {
    for (int with = 0; with < 4; ++with) {
      for (const int64_t n : {48, 37}) {
        check_op(
            fused({random_floats({2, 7, 20}, 1, -1, 1), random_floats({20, n}, 2, -1, 1),
                   with & 1 ? random_floats({n}, 3) : Tensor(),
                   with & 2 ? random_floats({2, 7, n}, 4) : Tensor()},
                  {{"activation", std::string(kind.name)}, {"activation_params", kind.params}}),
            "gemm_f32", kClose);
      }
    }
  }
}

// Fusing changes no bit.
TEST(FusedGemm, GivesTheBitsOfTheSeparateOperators) {
  const Tensor a = random_floats({9, 40}, 1), b = random_floats({40, 50}, 2),
               bias = random_floats({50}, 3), residual = random_floats({9, 50}, 4);
  const KernelTable& kernels = kernel_table(supported_isas().back());
  const auto run = [&](const OpCase& c) { return run_kernel(c, kernels)->outputs[0]; };
  Tensor apart = run(make_case("MatMul", 13, {a, b}));
  apart = run(make_case("Add", 13, {apart, bias}));
  apart = run(make_case("Add", 13, {apart, residual}));
  apart = run(make_case("Tanh", 13, {apart}));
  EXPECT_EQ(bit_difference(
                run(fused({a, b, bias, residual}, {{"activation", std::string("tanh")}})), apart),
            "");
}

TEST(FusedGemm, TransposesAndScales) {
  for (int which = 0; which < 4; ++which) {
    const bool a = which & 1, b = which & 2;
    check_op(fused({random_floats(a ? Dims{20, 7} : Dims{7, 20}, 1, -1, 1),
                    random_floats(b ? Dims{37, 20} : Dims{20, 37}, 2, -1, 1),
                    random_floats({37}, 3), random_floats({7, 37}, 4)},
                   {{"transA", int64_t{a}},
                    {"transB", int64_t{b}},
                    {"alpha", 0.5f},
                    {"beta", 1.5f},
                    {"activation", std::string("relu")}}),
             "gemm_f32", kClose);
  }
  check_error(fused({random_floats({2, 3, 4}), random_floats({3, 5})}, {{"transA", int64_t{1}}}),
              Code::kInvalidModel, "to be transposed it must be a matrix");
}

TEST(FusedGemm, RefusesWhatDoesNotFit) {
  const Tensor a = random_floats({2, 3}), b = random_floats({3, 4});
  check_error(fused({a, b, random_floats({3})}, {}), Code::kInvalidModel, "bias is f32[3]");
  check_error(fused({a, b, Tensor(), random_floats({2, 3})}, {}), Code::kInvalidModel,
              "residual is f32[2,3]");
  check_error(fused({a, b}, {{"activation", std::string("sinh")}}), Code::kInvalidModel, "sinh");
}

}  // namespace hasten::test
