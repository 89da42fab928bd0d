// hasten.Gemm, made by passes: activation(A B + bias + residual). A [..., M, K] and B as in MatMul,
// bias [N] and residual (of the output's shape) optional; attributes as ops/activation.h says.
// Floats.
#include "engine/ops/activation.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/matrix_product.h"
#include "engine/ops/table.h"

namespace hasten {

namespace {

enum : size_t { kInA, kInB, kInBias, kInResidual };

Status infer(InferContext& c) {
  const Facts &a = c.in(kInA), &b = c.in(kInB), &bias = c.in(kInBias),
              &residual = c.in(kInResidual);
  HASTEN_TRY(const Activation f, read_activation(c));
  (void)f;
  HASTEN_CHECK(check_same_dtype(c, a, "A", bias, "bias"));
  HASTEN_CHECK(check_same_dtype(c, a, "A", residual, "residual"));
  if (a.dtype != DType::kNone && !is_float(a.dtype)) {
    return c.invalid("A has dtype {}, it must be float", dtype_name(a.dtype));
  }
  if (b.has_shape && b.rank() != 2) return c.invalid("B is {}, it must be a matrix", b.text());
  HASTEN_CHECK(infer_matmul(c));
  if (bias.has_shape && b.has_shape &&
      (bias.rank() != 1 ||
       (bias.shape[0].known() && b.shape[1].known() && !(bias.shape[0] == b.shape[1])))) {
    return c.invalid("bias is {}, B has {} columns", bias.text(), b.shape[1].text());
  }
  const Facts& out = c.out(0);
  if (residual.has_shape && out.has_shape) {
    bool same = residual.rank() == out.rank();
    for (size_t i = 0; same && i < out.rank(); ++i) {
      same =
          !residual.shape[i].known() || !out.shape[i].known() || residual.shape[i] == out.shape[i];
    }
    if (!same) return c.invalid("residual is {}, the product {}", residual.text(), out.text());
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView &a = c.in(kInA), &b = c.in(kInB), &bias = c.in(kInBias),
                   &residual = c.in(kInResidual);
  HASTEN_TRY(const Activation f, read_activation(c));
  const ProductDims d = product_dims(a.dims, b.dims);
  Dims dims = d.batch;
  if (a.dims.size() > 1) dims.push_back(d.m);
  dims.push_back(d.n);
  HASTEN_TRY(void* memory, c.out(0, a.dtype, dims));
  dispatch_float(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto at = [](const TensorView& t, int64_t i) {
      return t.data ? static_cast<double>(Compute<T>::load(t.as<T>()[i])) : 0.0;
    };
    reference_product(d.m * count_of(d.batch), d.n, d.k, a.as<T>(), d.k, int64_t{1}, b.as<T>(), d.n,
                      int64_t{1}, [&](int64_t row, int64_t col, double sum) {
                        const int64_t i = row * d.n + col;
                        sum = apply_activation(f, sum + at(bias, col) + at(residual, i));
                        static_cast<T*>(memory)[i] =
                            Compute<T>::store(static_cast<typename Compute<T>::type>(sum));
                      });
  });
  return {};
}

Status lower(LowerContext& c) {
  if (c.in(kInA).dtype != DType::kF32) {
    c.refuse("gemm_f32", fmt::format("dtype {}", dtype_name(c.in(kInA).dtype)));
    return {};
  }
  const ProductDims d = product_dims(c.in_dims(kInA), c.in_dims(kInB));
  MatrixProduct p = MatrixProduct::make(c.kernels(), d.m * count_of(d.batch), d.n, d.k, d.n, 1);
  p.args.d_col = 1;
  HASTEN_TRY(p.args.activation, read_activation(c));
  if (c.constant(kInB)) HASTEN_CHECK(p.use_constant(c, kInB, 1));
  p.choose();
  c.flops(p.flops());
  c.scratch(p.scratch_bytes);
  const bool bias = c.has_in(kInBias), residual = c.has_in(kInResidual);
  if (residual) c.in_place({static_cast<int>(kInResidual)});
  c.take("gemm_f32", [p, bias, residual](const StepArgs& s) {
    p.run(s, s.input<float>(kInA), s.input<float>(kInB), s.output<float>(0),
          bias ? s.input<float>(kInBias) : nullptr,
          residual ? s.input<float>(kInResidual) : nullptr, s.scratch);
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_fused_gemm() {
  return {{"hasten",
           "Gemm",
           1,
           kLastOpset,
           2,
           4,
           1,
           1,
           {"activation", "activation_params"},
           infer,
           reference,
           lower}};
}

}  // namespace hasten
