// https://onnx.ai/onnx/operators/onnx__Gemm.html, opsets 7-21: Y = alpha A' B' + beta C. Floats,
// 32- and 64-bit integers (see docs/numerics.md for those).
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/matrix_product.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts &a = c.in(0), &b = c.in(1), &d = c.in(2);
  const GemmAttributes attrs(c.node());
  HASTEN_CHECK(check_same_dtype(c, a, "A", b, "B"));
  HASTEN_CHECK(check_same_dtype(c, a, "A", d, "C"));
  HASTEN_CHECK(check_product_dtype(c, a.dtype));
  for (const auto& [facts, name] : {std::pair{&a, "A"}, std::pair{&b, "B"}}) {
    if (facts->has_shape && facts->rank() != 2) {
      return c.invalid("{} must be a matrix, it is {}", name, facts->text());
    }
  }
  if (d.has_shape && d.rank() > 2) return c.invalid("C must have rank 0-2, it is {}", d.text());
  if (!a.has_shape && !b.has_shape) {
    c.set(0, a.dtype, {Dim::fresh(), Dim::fresh()});
    return {};
  }
  Shape out = {a.has_shape ? a.shape[attrs.trans_a] : Dim::fresh(),
               b.has_shape ? b.shape[!attrs.trans_b] : Dim::fresh()};
  if (a.has_shape && b.has_shape) {
    const Dim a_k = a.shape[!attrs.trans_a], b_k = b.shape[attrs.trans_b];
    if (a_k.known() && b_k.known() && !(a_k == b_k)) {
      return c.invalid("A {}{} and B {}{} do not fit: {} columns, {} rows", shape_text(a.shape),
                       attrs.trans_a ? " transposed" : "", shape_text(b.shape),
                       attrs.trans_b ? " transposed" : "", a_k.text(), b_k.text());
    }
    for (size_t i = 0; d.has_shape && i < d.rank(); ++i) {
      const Dim from = d.shape[d.rank() - 1 - i], to = out[1 - i];
      if (from.known() && to.known() && !(from == to) && from.value() != 1) {
        return c.invalid("C {} does not broadcast to {}", shape_text(d.shape), shape_text(out));
      }
    }
  }
  c.set(0, a.dtype, std::move(out));
  return {};
}

/// alpha x + beta y as docs/numerics.md says.
template <class T, class S>
T combine(const GemmAttributes& attrs, S x, const T* y) {
  if constexpr (std::is_integral_v<T>) {
    if (attrs.alpha == 1 && (y == nullptr || attrs.beta == 1)) {
      return static_cast<T>(y ? x + static_cast<S>(*y) : x);
    }
    // Scaled integers: in double, cut towards zero, wrapping.
    const double exact = static_cast<double>(attrs.alpha) * static_cast<double>(static_cast<T>(x)) +
                         (y ? static_cast<double>(attrs.beta) * static_cast<double>(*y) : 0);
    const double whole = std::trunc(exact);
    if (!(std::abs(whole) < 0x1p63)) return 0;
    return static_cast<T>(static_cast<int64_t>(whole));
  } else {
    double sum = static_cast<double>(attrs.alpha) * x;
    if (y) sum += static_cast<double>(attrs.beta) * static_cast<double>(Compute<T>::load(*y));
    return Compute<T>::store(static_cast<typename Compute<T>::type>(sum));
  }
}

struct GemmDims {
  int64_t m, n, k;
  GemmDims(const GemmAttributes& attrs, const Dims& a, const Dims& b)
      : m(a[attrs.trans_a]), n(b[!attrs.trans_b]), k(a[!attrs.trans_a]) {}
};

Status reference(RefContext& c) {
  const TensorView &a = c.in(0), &b = c.in(1), &d = c.in(2);
  const GemmAttributes attrs(c.node());
  const GemmDims s(attrs, a.dims, b.dims);
  HASTEN_TRY(void* memory, c.out(0, a.dtype, {s.m, s.n}));
  const Dims d_strides = broadcast_strides(d.dims, Dims{s.m, s.n});
  dispatch_number(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* out = static_cast<T*>(memory);
    reference_product(
        s.m, s.n, s.k, a.as<T>(), attrs.trans_a ? 1 : s.k, attrs.trans_a ? s.m : 1, b.as<T>(),
        attrs.trans_b ? 1 : s.n, attrs.trans_b ? s.k : 1, [&](int64_t i, int64_t j, auto sum) {
          const T* y = d.data ? d.as<T>() + i * d_strides[0] + j * d_strides[1] : nullptr;
          out[i * s.n + j] = combine<T>(attrs, sum, y);
        });
  });
  return {};
}

Status lower(LowerContext& c) {
  if (c.in(0).dtype != DType::kF32) {
    c.refuse("gemm_f32", fmt::format("dtype {}", dtype_name(c.in(0).dtype)));
    return {};
  }
  const GemmAttributes attrs(c.node());
  const GemmDims s(attrs, c.in_dims(0), c.in_dims(1));
  MatrixProduct p = MatrixProduct::make(c.kernels(), s.m, s.n, s.k, attrs.trans_b ? 1 : s.n,
                                        attrs.trans_b ? s.k : 1);
  if (attrs.trans_a) {
    p.args.a_row = 1;
    p.args.a_k = s.m;
  }
  p.args.alpha = attrs.alpha;
  p.args.beta = attrs.beta;
  const bool adds = c.has_in(2);
  if (adds) {
    const Dims strides = broadcast_strides(c.in_dims(2), Dims{s.m, s.n});
    p.args.d_row = strides[0];
    p.args.d_col = strides[1];
  }
  if (c.constant(1)) HASTEN_CHECK(p.use_constant(c, 1, 1));
  p.choose();
  c.flops(p.flops());
  c.scratch(p.scratch_bytes);
  c.take("gemm_f32", [p, adds](const StepArgs& step) {
    p.run(step, step.input<float>(0), step.input<float>(1), step.output<float>(0),
          adds ? step.input<float>(2) : nullptr, nullptr, step.scratch);
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_gemm() {
  const std::vector<const char*> attrs = {"alpha", "beta", "transA", "transB"};
  return {{"", "Gemm", 7, 10, 3, 3, 1, 1, attrs, infer, reference, lower},
          {"", "Gemm", 11, kLastOpset, 2, 3, 1, 1, attrs, infer, reference, lower}};
}

}  // namespace hasten
