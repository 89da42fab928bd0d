// What element-wise operators share: dtypes, inference, broadcasting loops of the references, and
// lowering to the broadcasting and one-operand kernels.
#pragma once

#include <initializer_list>

#include "engine/kernels/kernels.h"
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"

namespace hasten {

/// A set of element types.
using DTypes = uint32_t;
constexpr DTypes dtypes(std::initializer_list<DType> list) {
  DTypes set = 0;
  for (const DType t : list) set |= DTypes{1} << static_cast<int>(t);
  return set;
}
constexpr DTypes kFloats = dtypes({DType::kF32, DType::kF64, DType::kF16, DType::kBF16});
constexpr DTypes kSignedInts = dtypes({DType::kI8, DType::kI16, DType::kI32, DType::kI64});
constexpr DTypes kUnsignedInts = dtypes({DType::kU8, DType::kU16, DType::kU32, DType::kU64});
constexpr DTypes kInts = kSignedInts | kUnsignedInts;
constexpr DTypes kNumbers = kFloats | kInts;
constexpr DTypes kSignedNumbers = kFloats | kSignedInts;
constexpr DTypes kBools = dtypes({DType::kBool});
constexpr DTypes kStrings = dtypes({DType::kString});
constexpr DTypes kAnyDType = kNumbers | kBools | kStrings;

/// Is input i (if there is one, and its dtype is known) of one of these? Error: invalid_model.
Status check_dtype(const InferContext& c, size_t i, DTypes allowed);
/// Do all inputs from `first` on have one dtype? Error: invalid_model, naming two that differ.
Status check_same_dtype(const InferContext& c, size_t first = 0);
/// The first known dtype of the inputs from `first` on.
DType common_dtype(const InferContext& c, size_t first = 0);

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

/// Any number of inputs of one of the allowed dtypes, the same for all; output of that dtype (or
/// `out_dtype`) and of the broadcast shape.
Status infer_broadcast(InferContext& c, DTypes allowed, DType out_dtype = DType::kNone);
/// Output like input 0.
Status infer_unary(InferContext& c, DTypes allowed = kAnyDType);

/// Are input 0 and output 0 what a kernel of f32 in the plain layout takes? Else it is refused.
bool plain_f32(LowerContext& c, const char* kernel);

/// The broadcast dims of two concrete inputs.
Result<Dims> broadcast_dims(std::span<const int64_t> a, std::span<const int64_t> b);

/// reference of a binary operator; f(x, y) -> z in the compute type of T. R is the stored result
/// type.
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
/// The same for whatever number the inputs are made of; f is generic.
template <class F>
Status reference_numbers(RefContext& c, F&& f) {
  Status status;
  const DType dtype = c.in(0).dtype;
  const bool known =
      dispatch_number(dtype, [&](auto t) { status = reference_binary<decltype(t)>(c, dtype, f); });
  if (!known) return c.unsupported("dtype {}", dtype_name(dtype));
  return status;
}
/// The same for integers alone.
template <class F>
Status reference_ints(RefContext& c, F&& f) {
  Status status;
  const DType dtype = c.in(0).dtype;
  dispatch_int(dtype, [&](auto t) { status = reference_binary<decltype(t)>(c, dtype, f); });
  return status;
}
/// The same for numbers, truths or (==) strings with a truth as the result.
template <class F>
Status reference_compare(RefContext& c, F&& f) {
  Status status;
  dispatch_any(c.in(0).dtype,
               [&](auto t) { status = reference_binary<decltype(t), bool>(c, DType::kBool, f); });
  return status;
}
/// And for truths.
template <class F>
Status reference_logic(RefContext& c, F&& f) {
  return reference_binary<bool>(c, DType::kBool, f);
}

/// Sums that wrap, for integers; plain ones for floats.
struct WrappingAdd {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>)
      return x + y;
    else
      return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  }
};
struct WrappingSub {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>)
      return x - y;
    else
      return static_cast<T>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
  }
};
struct WrappingMul {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>)
      return x * y;
    else
      return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  }
};

/// reference of a function of one number; f(x) -> y in the compute type, for dtypes of `allowed`.
template <class F>
Status reference_unary(RefContext& c, F&& f) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const int64_t n = x.count();
  const bool known = dispatch_number(x.dtype, [&](auto t) {
    using T = decltype(t);
    using C = typename Compute<T>::type;
    for (int64_t i = 0; i < n; ++i) {
      const C v = Compute<T>::load(x.as<T>()[i]);
      static_cast<T*>(memory)[i] = Compute<T>::store(static_cast<C>(f(v)));
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}
/// The same for floats, computed in double.
template <class F>
Status reference_float_unary(RefContext& c, F&& f) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const int64_t n = x.count();
  const bool known = dispatch_float(x.dtype, [&](auto t) {
    using T = decltype(t);
    using C = typename Compute<T>::type;
    for (int64_t i = 0; i < n; ++i) {
      const double v = Compute<T>::load(x.as<T>()[i]);
      static_cast<T*>(memory)[i] = Compute<T>::store(static_cast<C>(f(v)));
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

using BroadcastKernel = void (*)(const BroadcastArgs*, int64_t, int64_t);
using UnaryKernel = void (*)(const UnaryArgs*, int64_t, int64_t);

/// How an element-wise kernel walks operands that broadcast to an output; without the pointers.
struct BroadcastPlan {
  BroadcastArgs args{};
  PaddingArgs padding{};      // lanes 0: nothing to zero afterwards
  int64_t count = 0;          // elements of the output's storage
  std::vector<int> in_place;  // operands that lie like the output
};
/// One operand or the output of a plan.
struct Placement {
  Dims dims;
  Layout layout = Layout::kPlain;
};
/// The plan; or why these layouts and shapes can't be walked, as an error for refuse().
Result<BroadcastPlan> plan_broadcast(std::span<const Placement> operands, const Placement& out);

/// A kernel for operands of that dtype.
struct TypedKernel {
  DType dtype;
  const char* name;
  BroadcastKernel kernel;
};
/// Lowers to the kernel for the dtype of input `typed_by`, over the first `operands` inputs.
Status lower_broadcast(LowerContext& c, std::initializer_list<TypedKernel> kernels,
                       size_t operands = 2, size_t typed_by = 0, double flops_per_element = 1);

/// Calls kernel(begin, end) over [0, count) elements, split at multiples of 64.
template <class F>
void split_elements(const StepArgs& s, int64_t count, int64_t grain, const F& kernel) {
  constexpr int64_t kUnit = 64;
  s.parallel((count + kUnit - 1) / kUnit, grain / kUnit, [&](int64_t begin, int64_t end) {
    kernel(begin * kUnit, std::min(end * kUnit, count));
  });
}

/// Elements of float work worth another thread: cheap ones, and those with a polynomial.
constexpr int64_t kCheapGrain = 16384, kCostlyGrain = 4096;

/// The rows of an operator whose lower() takes any layout, as lower_unary does.
std::vector<OpDef> unary_ops(std::vector<OpDef> rows);

/// Lowers a function of input 0 alone to a kernel on floats, in any layout; `flops` per element.
Status lower_unary(LowerContext& c, const char* name, UnaryKernel kernel, float alpha = 0,
                   float beta = 0, double flops = 1);
struct UnaryParams {
  float alpha = 0, beta = 0;
};
/// The same with parameters that are only known when the step runs.
Status lower_unary_with(LowerContext& c, const char* name, UnaryKernel kernel,
                        std::function<UnaryParams(const StepArgs&)> params, double flops = 1);

/// What to zero after a kernel wrote nchw16c storage of those dims; lanes 0: nothing.
PaddingArgs padding_of(std::span<const int64_t> dims, Layout layout);

}  // namespace hasten
