#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

constexpr Tolerance kClose{1e-5, 1e-5};

}  // namespace

TEST(Gemm, MultipliesAndAdds) {
  check_op(make_case("Gemm", 13,
                     {floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({3, 2}, {1, 2, 3, 4, 5, 6}),
                      floats({2}, {10, 20})},
                     {{"alpha", 2.0f}, {"beta", 0.5f}}),
           floats({2, 2}, {49, 66, 103, 138}), "gemm_f32");
}

TEST(Gemm, TransposesScalesAndBroadcasts) {
  uint32_t seed = 0;
  for (const bool constant : {true, false}) {
    for (int64_t flags = 0; flags < 4; ++flags) {
      for (const Dims& d :
           {Dims{}, Dims{1}, Dims{37}, Dims{1, 37}, Dims{11, 1}, Dims{11, 37}, Dims{1, 1}}) {
        for (const float beta : {1.0f, -0.75f}) {
          const bool ta = flags & 1, tb = flags & 2;
          seed += 3;
          OpCase c = make_case(
              "Gemm", 11,
              {random_floats(ta ? Dims{20, 11} : Dims{11, 20}, seed - 2),
               random_floats(tb ? Dims{37, 20} : Dims{20, 37}, seed - 1), random_floats(d, seed)},
              {{"transA", int64_t{ta}},
               {"transB", int64_t{tb}},
               {"alpha", seed % 2 ? 1.0f : 1.5f},
               {"beta", beta}});
          c.constant = {false, constant, false};
          check_op(c, "gemm_f32", kClose);
        }
      }
    }
  }
}

TEST(Gemm, WorksWithoutC) {
  check_op(
      make_case("Gemm", 11, {random_floats({3, 70}), random_floats({70, 48})}, {{"alpha", -2.0f}}),
      "gemm_f32", kClose);
  check_op(make_case("Gemm", 13, {random_floats({30, 7}), random_floats({48, 7}), Tensor()},
                     {{"transB", int64_t{1}}}),
           "gemm_f32", kClose);
}

TEST(Gemm, PacksATransposedBOfEveryWidth) {
  for (const int64_t n : {1, 15, 16, 17, 64, 100}) {
    for (const int64_t k : {1, 7, 8, 9, 40, 2050}) {
      OpCase c = make_case("Gemm", 13, {random_floats({14, k}, 1), random_floats({n, k}, 2)},
                           {{"transB", int64_t{1}}});
      c.constant = {false, false};
      check_op(c, "gemm_f32", {1e-5, 1e-3});
    }
  }
}

TEST(Gemm, TakesEmptyTensors) {
  check_op(make_case("Gemm", 13, {floats({2, 0}, {}), floats({0, 3}, {}), floats({3}, {1, 2, 3})}),
           floats({2, 3}, {1, 2, 3, 1, 2, 3}), "gemm_f32");
  check_op(
      make_case("Gemm", 13, {floats({0, 2}, {}), random_floats({2, 3}), floats({3}, {1, 2, 3})}),
      floats({0, 3}, {}), "gemm_f32");
}

TEST(Gemm, KnowsAllDtypes) {
  for (const DType t : {DType::kF64, DType::kF16, DType::kBF16, DType::kI32, DType::kI64,
                        DType::kU32, DType::kU64}) {
    const std::vector<Tensor> in = {numbers(t, {2, 2}, {1, 2, 3, 4}), numbers(t, {2, 1}, {5, 6}),
                                    numbers(t, {1}, {4})};
    check_op(make_case("Gemm", 13, in), numbers(t, {2, 1}, {21, 43}), "");
    check_op(make_case("Gemm", 13, in, {{"alpha", 2.0f}, {"beta", 0.5f}}),
             numbers(t, {2, 1}, {36, 80}), "");
  }
}

TEST(Gemm, RefusesWhatDoesNotFit) {
  const Tensor a = random_floats({2, 3}), b = random_floats({3, 4});
  check_error(make_case("Gemm", 13, {a, b}, {{"transB", int64_t{1}}}), Code::kInvalidModel,
              "A [2,3] and B [3,4] transposed do not fit: 3 columns, 4 rows");
  check_error(make_case("Gemm", 13, {a, b, random_floats({3})}), Code::kInvalidModel,
              "C [3] does not broadcast to [2,4]");
  check_error(make_case("Gemm", 13, {a, b, random_floats({1, 2, 4})}), Code::kInvalidModel,
              "C must have rank 0-2");
  check_error(make_case("Gemm", 13, {random_floats({2, 3, 1}), b}), Code::kInvalidModel,
              "A must be a matrix");
}

}  // namespace hasten::test
