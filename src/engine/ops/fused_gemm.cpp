// hasten.Gemm, made by passes of MatMul and Gemm:
// activation(alpha A' B' + beta bias + residual). A [..., M, K] and B [K, N] as in MatMul, or
// matrices that transA and transB transpose as in Gemm; bias [N] and residual (of the output's
// shape) optional; the activation as ops/activation.h says. Floats.
#include "engine/ops/activation.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/matrix_product.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

enum : size_t { kInA, kInB, kInBias, kInResidual };

/// Of concrete operands, as if they weren't transposed.
ProductDims dims_of(const GemmAttributes& attrs, Dims a, Dims b) {
  if (attrs.trans_a) std::swap(a[0], a[1]);
  if (attrs.trans_b) std::swap(b[0], b[1]);
  return product_dims(a, b);
}

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
  const GemmAttributes attrs(c.node());
  if (b.has_shape && b.rank() != 2) return c.invalid("B is {}, it must be a matrix", b.text());
  if (attrs.trans_a && a.has_shape && a.rank() != 2) {
    return c.invalid("A is {}, to be transposed it must be a matrix", a.text());
  }
  Facts straight_a = a, straight_b = b;
  if (attrs.trans_a && a.has_shape) std::swap(straight_a.shape[0], straight_a.shape[1]);
  if (attrs.trans_b && b.has_shape) std::swap(straight_b.shape[0], straight_b.shape[1]);
  const Facts* straight[] = {&straight_a, &straight_b};
  InferContext product(c.node(), straight, std::span(&c.out(0), 1));
  HASTEN_CHECK(infer_matmul(product));
  if (bias.has_shape && b.has_shape) {
    const Dim n = straight_b.shape[1];
    if (bias.rank() != 1 || (bias.shape[0].known() && n.known() && !(bias.shape[0] == n))) {
      return c.invalid("bias is {}, B has {} columns", bias.text(), n.text());
    }
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
  const GemmAttributes attrs(c.node());
  const ProductDims d = dims_of(attrs, a.dims, b.dims);
  Dims dims = d.batch;
  if (a.dims.size() > 1) dims.push_back(d.m);
  dims.push_back(d.n);
  HASTEN_TRY(void* memory, c.out(0, a.dtype, dims));
  dispatch_float(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto at = [](const TensorView& t, int64_t i) {
      return t.data ? static_cast<double>(Compute<T>::load(t.as<T>()[i])) : 0.0;
    };
    const double alpha = attrs.alpha, beta = attrs.beta;
    reference_product(d.m * count_of(d.batch), d.n, d.k, a.as<T>(), attrs.trans_a ? 1 : d.k,
                      attrs.trans_a ? d.m : 1, b.as<T>(), attrs.trans_b ? 1 : d.n,
                      attrs.trans_b ? d.k : 1, [&](int64_t row, int64_t col, double sum) {
                        const int64_t i = row * d.n + col;
                        sum =
                            alpha * sum + at(residual, i) + (bias.data ? beta * at(bias, col) : 0);
                        sum = apply_activation(f, sum);
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
  const GemmAttributes attrs(c.node());
  const ProductDims d = dims_of(attrs, c.in_dims(kInA), c.in_dims(kInB));
  MatrixProduct p = MatrixProduct::make(c.kernels(), d.m * count_of(d.batch), d.n, d.k,
                                        attrs.trans_b ? 1 : d.n, attrs.trans_b ? d.k : 1);
  if (attrs.trans_a) {
    p.args.a_row = 1;
    p.args.a_k = d.m;
  }
  p.args.alpha = attrs.alpha;
  p.args.beta = attrs.beta;
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
           {"activation", "activation_params", "alpha", "beta", "transA", "transB"},
           infer,
           reference,
           lower}};
}

}  // namespace hasten
