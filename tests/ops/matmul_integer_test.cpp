// MatMulInteger and QLinearMatMul. Values by hand, from numpy where it says so, and from the
// specification's examples.
#include "tests/ops/op_harness.h"

namespace hasten::test {
namespace {

Tensor u8(Dims dims, const std::vector<double>& values) {
  return numbers(DType::kU8, std::move(dims), values);
}
Tensor i8(Dims dims, const std::vector<double>& values) {
  return numbers(DType::kI8, std::move(dims), values);
}
Tensor i32(Dims dims, const std::vector<double>& values) {
  return numbers(DType::kI32, std::move(dims), values);
}
Tensor random_bytes(DType dtype, Dims dims, uint32_t seed) {
  const double low = dtype == DType::kI8 ? -128 : 0;
  return random_tensor(dtype, std::move(dims), low, low + 256, seed);
}
OpCase product(std::vector<Tensor> inputs) {
  return make_case("MatMulInteger", 10, std::move(inputs));
}

TEST(MatMulInteger, NothingSaturates) {
  check_op(product({u8({1, 3}, {210, 198, 234}), i8({3, 1}, {-81, -80, 127})}),
           i32({1, 1}, {-3132}), "gemm_s32");
  const std::vector<double> full(64, 255);
  check_op(product({u8({1, 64}, full), i8({64, 1}, std::vector<double>(64, -128))}),
           i32({1, 1}, {-2088960}), "gemm_s32");
  check_op(product({u8({1, 64}, full), i8({64, 1}, std::vector<double>(64, 127))}),
           i32({1, 1}, {2072640}), "gemm_s32");
  // The largest differences there are, in pairs: (255 - 0)(255 - 0) and (0 - 255)(255 - 0).
  check_op(product({u8({1, 2}, {255, 255}), u8({2, 1}, {255, 255}), u8({}, {0}), u8({}, {0})}),
           i32({1, 1}, {130050}), "gemm_s32");
  check_op(product({u8({1, 2}, {0, 0}), i8({2, 1}, {127, 127}), u8({}, {255}), i8({}, {-128})}),
           i32({1, 1}, {-130050}), "gemm_s32");
}

TEST(MatMulInteger, ZeroPointsOfBothKinds) {
  check_op(
      product({u8({3, 3}, {238, 115, 94, 245, 111, 102, 158, 225, 48}),
               i8({3, 3}, {25, 36, 125, 42, -123, 76, -81, -86, 35}), u8({}, {42}), i8({}, {-26})}),
      i32({3, 3}, {12100, 1951, 40214, 11745, 2293, 41351, 18030, -10919, 36548}),  // numpy
      "gemm_s32");
}

TEST(MatMulInteger, ExampleOfTheSpecification) {
  check_op(product({u8({4, 3}, {11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0}),
                    u8({3, 2}, {1, 4, 2, 5, 3, 6}), u8({1}, {12}), u8({1}, {0})}),
           i32({4, 2}, {-38, -83, -44, -98, -50, -113, -56, -128}), "gemm_s32");
}

TEST(MatMulInteger, EveryDepthPackedOrNot) {
  for (int64_t k = 0; k <= 300; k += k < 70 ? 1 : 23) {
    OpCase c = product({random_bytes(DType::kU8, {7, k}, 1), random_bytes(DType::kI8, {k, 37}, 2),
                        u8({}, {131}), i8({37}, numbers_of(random_bytes(DType::kI8, {37}, 3)))});
    check_op(c, "gemm_s32");
    c.constant = {false, false, false, false};
    check_op(c, "gemm_s32");
  }
}

TEST(MatMulInteger, EveryHeightWidthAndPairOfTypes) {
  uint32_t seed = 1;
  for (const DType a : {DType::kU8, DType::kI8}) {
    for (const DType b : {DType::kU8, DType::kI8}) {
      for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 30}) {
        for (const int64_t n : {1, 16, 31, 64, 70, 130}) {
          check_op(product({random_bytes(a, {m, 19}, ++seed), random_bytes(b, {19, n}, ++seed),
                            random_bytes(a, {m}, ++seed), random_bytes(b, {n}, ++seed)}),
                   "gemm_s32");
        }
      }
    }
  }
}

TEST(MatMulInteger, SumsWrap) {
  // 33100 products of 255 * 255 are 2152327500: 2^31 and more.
  const int64_t k = 33100;
  check_op(product({u8({1, k}, std::vector<double>(33100, 255)),
                    u8({k, 1}, std::vector<double>(33100, 255))}),
           i32({1, 1}, {2152327500.0 - 4294967296.0}), "gemm_s32");
}

TEST(MatMulInteger, BatchesBroadcast) {
  const auto run = [](Dims a, Dims b, Dims a_zero, Dims b_zero) {
    OpCase c = product({random_bytes(DType::kU8, a, 1), random_bytes(DType::kI8, b, 2),
                        random_bytes(DType::kU8, a_zero, 3), random_bytes(DType::kI8, b_zero, 4)});
    check_op(c, "gemm_s32");
    c.constant = {false, false, false, false};
    check_op(c, "gemm_s32");
  };
  run({2, 3, 5, 9}, {9, 20}, {}, {});
  run({2, 3, 5, 9}, {9, 20}, {2, 3, 5, 1}, {20});
  run({2, 3, 5, 9}, {2, 3, 9, 20}, {2, 3, 5, 1}, {2, 3, 1, 20});
  run({2, 1, 5, 9}, {3, 9, 20}, {2, 1, 5, 1}, {3, 1, 20});
  run({2, 3, 5, 9}, {9, 20}, {1, 3, 1, 1}, {1, 20});
  run({5, 9}, {4, 9, 20}, {5}, {4, 1, 1});
  run({9}, {9, 20}, {1}, {20});
  run({5, 9}, {9}, {5}, {});
  run({9}, {9}, {}, {});
  run({0, 9}, {9, 20}, {}, {});
  run({5, 9}, {9, 0}, {}, {});
}

TEST(MatMulInteger, Errors) {
  const Tensor a = random_bytes(DType::kU8, {2, 3}, 1), b = random_bytes(DType::kI8, {3, 4}, 2);
  check_error(product({a, random_bytes(DType::kI8, {4, 4}, 1)}), Code::kInvalidModel,
              "A [2,3] has 3 columns, B [4,4] has 4 rows");
  check_error(product({a, b, i8({}, {1})}), Code::kInvalidModel, "A's zero point has dtype i8");
  check_error(product({a, b, u8({3}, {1, 2, 3})}), Code::kInvalidModel, "each row of u8[2,3]");
  check_error(product({a, b, u8({}, {1}), i8({3}, {1, 2, 3})}), Code::kInvalidModel,
              "each column of i8[3,4]");
  check_error(product({random_floats({2, 3}), b}), Code::kInvalidModel, "input 0 has dtype f32");
}

OpCase qlinear(std::vector<Tensor> inputs, int64_t opset = 10) {
  return make_case("QLinearMatMul", opset, std::move(inputs));
}

TEST(QLinearMatMul, ExampleOfTheSpecification) {
  check_op(
      qlinear({u8({2, 4}, {208, 236, 0, 238, 3, 214, 255, 29}), floats({1}, {.0066f}),
               u8({1}, {113}), u8({4, 3}, {152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247}),
               floats({1}, {.00705f}), u8({1}, {114}), floats({1}, {.0107f}), u8({1}, {118})}),
      u8({2, 3}, {168, 115, 255, 1, 66, 151}), "gemm_s32");
}

TEST(QLinearMatMul, RoundsHalfToEvenAndSaturates) {
  check_op(qlinear({i8({5, 1}, {1, 3, 5, -1, 127}), floats({}, {1}), i8({}, {0}), i8({1, 1}, {1}),
                    floats({}, {.5f}), i8({}, {0}), floats({}, {1}), i8({}, {100})}),
           i8({5, 1}, {100, 102, 102, 100, 127}), "gemm_s32");
}

TEST(QLinearMatMul, ByRowAndColumn) {
  uint32_t seed = 1;
  for (const DType y : {DType::kU8, DType::kI8}) {
    for (const bool batch : {false, true}) {
      const Dims rows = batch ? Dims{3, 5, 1} : Dims{5},
                 columns = batch ? Dims{3, 1, 21} : Dims{21};
      const Dims a = batch ? Dims{3, 5, 40} : Dims{5, 40},
                 b = batch ? Dims{3, 40, 21} : Dims{40, 21};
      check_op(qlinear({random_bytes(DType::kU8, a, ++seed), random_floats(rows, ++seed, .01, .02),
                        random_bytes(DType::kU8, rows, ++seed), random_bytes(DType::kI8, b, ++seed),
                        random_floats(columns, ++seed, .01, .02),
                        random_bytes(DType::kI8, columns, ++seed), floats({}, {.5f}),
                        random_bytes(y, {}, ++seed)}),
               "gemm_s32");
    }
  }
  const auto half = [](double v) { return numbers(DType::kF16, {}, {v}); };
  check_op(qlinear({u8({1, 2}, {10, 20}), half(.5), u8({}, {0}), u8({2, 1}, {3, 5}), half(.25),
                    u8({}, {1}), half(2), u8({}, {7})},
                   21),
           u8({1, 1}, {13}), "gemm_s32");  // (20 + 80) / 16 = 6.25
}

}  // namespace
}  // namespace hasten::test
