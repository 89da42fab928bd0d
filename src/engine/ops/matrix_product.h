// What operators that multiply matrices share: MatMul, Gemm, recurrent ones.
#pragma once

#include <type_traits>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"

namespace hasten {

/// Dtypes of MatMul and Gemm: floats and 32- and 64-bit integers. Error: invalid_model.
Status check_product_dtype(const OpContext& c, DType dtype);
/// Both of one dtype, if known. Error: invalid_model.
Status check_same_dtype(const OpContext& c, const Facts& a, const char* a_name, const Facts& b,
                        const char* b_name);

/// The shape of the product of A and B, both of known rank. Errors: invalid_model.
Result<Shape> product_shape(const OpContext& c, const Facts& a, const Facts& b);
/// What Gemm and the fused one say of their operands.
struct GemmAttributes {
  float alpha, beta;
  bool trans_a, trans_b;
  explicit GemmAttributes(const Node& n)
      : alpha(n.attr_float("alpha", 1)),
        beta(n.attr_float("beta", 1)),
        trans_a(n.attr_int("transA", 0) != 0),
        trans_b(n.attr_int("transB", 0) != 0) {}
};

/// Of MatMul and of what passes make of it: the product of inputs 0 and 1.
Status infer_matmul(InferContext& c);

/// What the references sum in: double for floats; wrapping arithmetic for integers.
template <class T>
using ProductSum = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                               std::type_identity<double>>::type;

/// Plain loops: put(i, j, sum over p of a[i, p] b[p, j]), a and b with strides.
template <class T, class F>
void reference_product(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_k,
                       const T* b, int64_t b_k, int64_t b_n, F&& put) {
  using S = ProductSum<T>;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      S sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += static_cast<S>(Compute<T>::load(a[i * a_row + p * a_k])) *
               static_cast<S>(Compute<T>::load(b[p * b_k + j * b_n]));
      }
      put(i, j, sum);
    }
  }
}

/// The dims of a product's operands: 1-D ones have become matrices, `batch` is broadcast.
struct ProductDims {
  int64_t m = 1, n = 1, k = 1;
  Dims a_batch, b_batch, batch;
};
/// Of concrete operands that infer_matmul() accepted.
ProductDims product_dims(std::span<const int64_t> a, std::span<const int64_t> b);

/// For each product of the batch, the offset of an operand with those leading dims and matrices of
/// `size` elements.
std::vector<int64_t> batch_offsets(std::span<const int64_t> operand, std::span<const int64_t> batch,
                                   int64_t size);

/// A batch of products on the kernels: fill in the sizes and strides of `args` (and offsets, for
/// more than one product), choose() once, run() often.
struct MatrixProduct {
  GemmArgs args{};
  std::vector<int64_t> a_offset, b_offset, c_offset;
  const KernelTable* kernels = nullptr;
  size_t scratch_bytes = 0;  // for run()

  /// One product of row-major A[m,k] by a B with these strides into row-major C[m,n].
  static MatrixProduct make(const KernelTable& kernels, int64_t m, int64_t n, int64_t k,
                            int64_t b_k, int64_t b_n);
  /// B is input `i`, constant, of `matrices` matrices: packs it with the model; before choose().
  Status use_constant(LowerContext& c, size_t i, int64_t matrices);
  /// B is given to run() in panels, one matrix; before choose().
  void use_panels();
  /// How B is read and the work is cut.
  void choose();
  double flops() const;
  /// `b` is ignored if constant; `d` and `r` may be null. `scratch`: scratch_bytes.
  void run(const StepArgs& s, const float* a, const float* b, float* c, const float* d,
           const float* r, std::byte* scratch) const;

 private:
  enum class Read { kPanels, kInPlace, kOnStack, kScratch };
  Read read_ = Read::kInPlace;
  std::vector<int64_t> scratch_offset_;  // of each matrix once packed
  int64_t items_ = 0, grain_ = 1;
};

}  // namespace hasten
