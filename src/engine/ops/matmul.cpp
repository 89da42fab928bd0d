// https://onnx.ai/onnx/operators/onnx__MatMul.html, opsets 1-21: numpy.matmul. Floats, 32- and
// 64-bit integers (these wrap).
#include "engine/ops/elementwise.h"
#include "engine/ops/matrix_product.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status reference(RefContext& c) {
  const TensorView &a = c.in(0), &b = c.in(1);
  const ProductDims d = product_dims(a.dims, b.dims);
  Dims dims = d.batch;
  if (a.dims.size() > 1) dims.push_back(d.m);
  if (b.dims.size() > 1) dims.push_back(d.n);
  HASTEN_TRY(void* memory, c.out(0, a.dtype, dims));
  dispatch_number(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* out = static_cast<T*>(memory);
    for_each_broadcast(
        d.batch, broadcast_strides(d.a_batch, d.batch), broadcast_strides(d.b_batch, d.batch),
        [&](int64_t i, int64_t at_a, int64_t at_b) {
          reference_product(d.m, d.n, d.k, a.as<T>() + at_a * d.m * d.k, d.k, int64_t{1},
                            b.as<T>() + at_b * d.k * d.n, d.n, int64_t{1},
                            [&](int64_t row, int64_t col, auto sum) {
                              out[(i * d.m + row) * d.n + col] =
                                  Compute<T>::store(static_cast<typename Compute<T>::type>(sum));
                            });
        });
  });
  return {};
}

Status lower(LowerContext& c) {
  if (c.in(0).dtype != DType::kF32) {
    c.refuse("gemm_f32", fmt::format("dtype {}", dtype_name(c.in(0).dtype)));
    return {};
  }
  const ProductDims d = product_dims(c.in_dims(0), c.in_dims(1));
  MatrixProduct p = MatrixProduct::make(c.kernels(), d.m, d.n, d.k, d.n, 1);
  const int64_t matrices = count_of(d.b_batch);
  if (matrices == 1 && count_of(d.a_batch) == count_of(d.batch)) {
    p.args.m *= count_of(d.batch);  // one B: all rows of A are those of one matrix
  } else {
    p.args.batch = count_of(d.batch);
    p.a_offset = batch_offsets(d.a_batch, d.batch, d.m * d.k);
    p.b_offset = batch_offsets(d.b_batch, d.batch, d.k * d.n);
    p.c_offset = batch_offsets(d.batch, d.batch, d.m * d.n);
  }
  if (c.constant(1)) HASTEN_CHECK(p.use_constant(c, 1, matrices));
  p.choose();
  c.flops(p.flops());
  c.scratch(p.scratch_bytes);
  c.take("gemm_f32", [p](const StepArgs& s) {
    p.run(s, s.input<float>(0), s.input<float>(1), s.output<float>(0), nullptr, nullptr, s.scratch);
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_matmul() {
  return {{"", "MatMul", 1, kLastOpset, 2, 2, 1, 1, {}, infer_matmul, reference, lower}};
}

}  // namespace hasten
