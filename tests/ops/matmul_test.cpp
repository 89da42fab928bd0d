#include "tests/ops/op_harness.h"

namespace hasten::test {

namespace {

constexpr Tolerance kClose{1e-5, 1e-5};

OpCase matmul(Dims a, Dims b, bool constant_b) {
  OpCase c =
      make_case("MatMul", 13, {random_floats(std::move(a), 1), random_floats(std::move(b), 2)});
  c.constant = {false, constant_b};
  return c;
}

}  // namespace

TEST(MatMul, MultipliesTwoMatrices) {
  check_op(make_case("MatMul", 13,
                     {floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({3, 2}, {1, 2, 3, 4, 5, 6})}),
           floats({2, 2}, {22, 28, 49, 64}), "gemm_f32");
}

TEST(MatMul, TakesVectors) {
  const Tensor v = floats({3}, {1, 2, 3}), m = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  check_op(make_case("MatMul", 9, {v, v}), floats({}, {14}), "gemm_f32");
  check_op(make_case("MatMul", 9, {v, m}), floats({2}, {22, 28}), "gemm_f32");
  check_op(make_case("MatMul", 9, {m.reshaped({2, 3}), v}), floats({2}, {14, 32}), "gemm_f32");
  check_op(make_case("MatMul", 9, {v, random_floats({2, 2, 3, 4})}), "gemm_f32", kClose);
  check_op(make_case("MatMul", 9, {random_floats({2, 2, 4, 3}), v}), "gemm_f32", kClose);
}

// Every tile: heights 1 to 6 and their mixtures, 1 to 4 panels, the last ones not whole.
TEST(MatMul, DoesEveryTile) {
  for (const bool constant : {true, false}) {
    for (int64_t m = 1; m <= 13; ++m)
      check_op(matmul({m, 19}, {19, 64 + 21}, constant), "gemm_f32", kClose);
    for (const int64_t n : {1, 7, 15, 16, 17, 32, 48, 63, 64, 65, 80, 96, 112, 128}) {
      check_op(matmul({1, 5}, {5, n}, constant), "gemm_f32", kClose);
      check_op(matmul({3, 9}, {9, n}, constant), "gemm_f32", kClose);
      check_op(matmul({26, 8}, {8, n}, constant), "gemm_f32", kClose);
    }
  }
}

TEST(MatMul, SplitsLongAndWideProducts) {
  for (const bool constant : {true, false}) {
    check_op(matmul({3, 2049}, {2049, 40}, constant), "gemm_f32", {1e-5, 1e-3});
    check_op(matmul({50, 2100}, {2100, 33}, constant), "gemm_f32", {1e-5, 1e-3});
    check_op(matmul({301, 40}, {40, 130}, constant), "gemm_f32", kClose);
    check_op(matmul({20, 700}, {700, 64}, constant), "gemm_f32", {1e-5, 1e-4});
  }
}

TEST(MatMul, BroadcastsLeadingDimensions) {
  for (const bool constant : {true, false}) {
    check_op(matmul({2, 3, 5, 4}, {4, 6}, constant), "gemm_f32", kClose);
    check_op(matmul({2, 3, 5, 4}, {3, 4, 6}, constant), "gemm_f32", kClose);
    check_op(matmul({2, 1, 5, 4}, {3, 4, 6}, constant), "gemm_f32", kClose);
    check_op(matmul({5, 4}, {3, 4, 16}, constant), "gemm_f32", kClose);
    check_op(matmul({2, 1, 5, 4}, {1, 3, 4, 6}, constant), "gemm_f32", kClose);
    check_op(matmul({3, 5, 4}, {1, 4, 6}, constant), "gemm_f32", kClose);
    check_op(matmul({2, 2, 17, 2060}, {2, 1, 2060, 5}, constant), "gemm_f32", {1e-5, 1e-3});
  }
}

// A row's bits depend neither on its place nor on how many others there are.
TEST(MatMul, GivesARowTheSameBitsInEveryBatch) {
  const Tensor all = random_floats({23, 77}, 3), b = random_floats({77, 50}, 4);
  for (const bool constant : {true, false}) {
    OpCase whole = make_case("MatMul", 13, {all, b});
    whole.constant = {false, constant};
    const Isa isa = supported_isas().back();
    const Tensor want = run_kernel(whole, kernel_table(isa))->outputs[0];
    for (int64_t rows = 1; rows <= 7; ++rows) {
      for (int64_t first = 0; first + rows <= 23; first += 5) {
        OpCase part = whole;
        part.inputs[0] = *Tensor::make(DType::kF32, {rows, 77});
        std::copy_n(all.as<float>() + first * 77, rows * 77, part.inputs[0].mutable_as<float>());
        const Tensor got = run_kernel(part, kernel_table(isa))->outputs[0];
        EXPECT_EQ(std::memcmp(got.data(), want.as<float>() + first * 50, got.bytes()), 0)
            << rows << " rows from " << first;
      }
    }
  }
}

TEST(MatMul, TakesEmptyTensors) {
  for (const bool constant : {true, false}) {
    check_op(matmul({1, 0, 3}, {3, 2}, constant), "gemm_f32");
    check_op(matmul({0, 2, 3}, {0, 3, 2}, constant), "gemm_f32");
    check_op(matmul({2, 3}, {3, 0}, constant), "gemm_f32");
    OpCase c = matmul({2, 0}, {0, 3}, constant);
    check_op(c, floats({2, 3}, {0, 0, 0, 0, 0, 0}), "gemm_f32");
    check_op(matmul({0}, {0}, constant), floats({}, {0}), "gemm_f32");
  }
}

TEST(MatMul, KnowsAllDtypes) {
  for (const DType t : {DType::kF64, DType::kF16, DType::kBF16, DType::kI32, DType::kI64,
                        DType::kU32, DType::kU64}) {
    check_op(
        make_case("MatMul", 13, {numbers(t, {2, 2}, {1, 2, 3, 4}), numbers(t, {2, 1}, {5, 6})}),
        numbers(t, {2, 1}, {17, 39}), "");
  }
  check_op(
      make_case("MatMul", 13,
                {numbers(DType::kI32, {1, 1}, {65536}), numbers(DType::kI32, {1, 1}, {65536})}),
      numbers(DType::kI32, {1, 1}, {0}), "");
}

TEST(MatMul, RefusesWhatDoesNotFit) {
  check_error(make_case("MatMul", 13, {random_floats({2, 3}), random_floats({4, 2})}),
              Code::kInvalidModel, "node 'n' (MatMul): A [2,3] has 3 columns, B [4,2] has 4 rows");
  check_error(make_case("MatMul", 13, {random_floats({2, 2, 3}), random_floats({3, 3, 2})}),
              Code::kInvalidModel, "leading dimensions of A [2,2,3] and B [3,3,2]");
  check_error(make_case("MatMul", 13, {random_floats({}), random_floats({4, 2})}),
              Code::kInvalidModel, "neither may be a scalar");
  check_error(
      make_case("MatMul", 13, {random_floats({2, 3}), numbers(DType::kF64, {3, 1}, {1, 2, 3})}),
      Code::kInvalidModel, "A has dtype f32, B has f64");
  check_error(
      make_case("MatMul", 13, {numbers(DType::kI8, {1, 1}, {1}), numbers(DType::kI8, {1, 1}, {1})}),
      Code::kInvalidModel, "dtype i8");
}

}  // namespace hasten::test
