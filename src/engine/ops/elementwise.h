// What element-wise operators share: broadcasting loops of the references, and inference.
#pragma once

#include "engine/ops/numbers.h"
#include "engine/ops/op.h"

namespace hasten {

/// Element strides of `dims` seen through broadcasting to `out` (0 where it repeats).
Dims broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> out);

/// Visits every index of `out` in row-major order: f(out_index, offset_a, offset_b).
template <class F>
void for_each_broadcast(std::span<const int64_t> out, const Dims& a_strides, const Dims& b_strides,
                        F&& f) {
  const int64_t n = count_of(out);
  const size_t rank = out.size();
  Dims at(rank, 0);
  int64_t a = 0, b = 0;
  for (int64_t i = 0; i < n; ++i) {
    f(i, a, b);
    for (size_t d = rank; d-- > 0;) {
      a += a_strides[d];
      b += b_strides[d];
      if (++at[d] < out[d]) break;
      a -= a_strides[d] * out[d];
      b -= b_strides[d] * out[d];
      at[d] = 0;
    }
  }
}

/// Both inputs of one dtype, output of that dtype (or `out_dtype`), broadcast shape.
Status infer_binary(InferContext& c, DType out_dtype = DType::kNone);
/// Output like input 0.
Status infer_unary(InferContext& c);

/// The broadcast dims of two concrete inputs.
Result<Dims> broadcast_dims(std::span<const int64_t> a, std::span<const int64_t> b);

/// reference of a binary operator; f(x, y) -> z in the compute type of T. R is the stored result type.
template <class T, class R = T, class F>
Status reference_binary(RefContext& c, DType out_dtype, F&& f) {
  const TensorView &a = c.in(0), &b = c.in(1);
  HASTEN_TRY(const Dims dims, broadcast_dims(a.dims, b.dims));
  HASTEN_TRY(void* memory, c.out(0, out_dtype, dims));
  auto* out = static_cast<R*>(memory);
  for_each_broadcast(dims, broadcast_strides(a.dims, dims), broadcast_strides(b.dims, dims),
                     [&](int64_t i, int64_t x, int64_t y) {
                       if constexpr (std::is_same_v<T, R>) {
                         out[i] = Compute<T>::store(static_cast<typename Compute<T>::type>(
                             f(Compute<T>::load(a.as<T>()[x]), Compute<T>::load(b.as<T>()[y]))));
                       } else {
                         out[i] = f(Compute<T>::load(a.as<T>()[x]), Compute<T>::load(b.as<T>()[y]));
                       }
                     });
  return {};
}

}  // namespace hasten
