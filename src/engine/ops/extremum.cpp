#include "engine/ops/extremum.h"

#include "engine/ops/convert.h"

namespace hasten {

Status reference_sum(RefContext& c, double divisor) {
  const DType dtype = c.in(0).dtype;
  Dims dims;
  for (size_t k = 0; k < c.inputs(); ++k) {
    HASTEN_TRY(dims, broadcast_dims(dims, c.in(k).dims));
  }
  HASTEN_TRY(void* memory, c.out(0, dtype, dims));
  std::vector<double> sums(static_cast<size_t>(count_of(dims)), -0.0);
  const bool known = dispatch_float(dtype, [&](auto t) {
    using T = decltype(t);
    for (size_t k = 0; k < c.inputs(); ++k) {
      const TensorView& in = c.in(k);
      const Dims strides = broadcast_strides(in.dims, dims);
      for_each_broadcast(dims, strides, strides, [&](int64_t i, int64_t at, int64_t) {
        sums[static_cast<size_t>(i)] += static_cast<double>(Compute<T>::load(in.as<T>()[at]));
      });
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      static_cast<T*>(memory)[i] = convert_number<T>(sums[i] / divisor);
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(dtype));
  return {};
}

Status lower_fold(LowerContext& c, const char* name, BroadcastKernel kernel, float divisor) {
  if (c.in(0).dtype != DType::kF32) {
    c.refuse(name, fmt::format("no kernel for {}", dtype_name(c.in(0).dtype)));
    return {};
  }
  if (c.inputs() == 1) {
    c.alias(0);
    return {};
  }
  if (c.inputs() == 2 && divisor == 1) return lower_broadcast(c, {{DType::kF32, name, kernel}});
  // The first two to the output; then the output with each of the others.
  const Placement out{c.out_dims(0), c.out(0).layout};
  std::vector<BroadcastPlan> plans;
  for (size_t k = 1; k < c.inputs(); ++k) {
    const Placement first = k == 1 ? Placement{c.in_dims(0), c.in(0).layout} : out;
    const Placement operands[] = {first, {c.in_dims(k), c.in(k).layout}};
    auto plan = plan_broadcast(operands, out);
    if (!plan) {
      c.refuse(name, plan.error().message);
      return {};
    }
    plans.push_back(std::move(*plan));
  }
  c.flops(static_cast<double>(count_of(out.dims)) * static_cast<double>(plans.size()));
  c.take(name, [plans = std::move(plans), kernel, divisor, divide = c.kernels().div_f32,
                zero = c.kernels().zero_padding_f32](const StepArgs& s) {
    for (size_t k = 0; k < plans.size(); ++k) {
      BroadcastArgs args = plans[k].args;
      args.in[0] = k == 0 ? s.in[0] : s.out[0];
      args.in[1] = s.in[k + 1];
      args.out = s.out[0];
      PaddingArgs padding = plans[k].padding;
      padding.x = s.output<float>(0);
      split_elements(s, plans[k].count, kCheapGrain, [&](int64_t begin, int64_t end) {
        kernel(&args, begin, end);
        if (padding.lanes) zero(&padding, begin / 16, end / 16);
      });
    }
    if (divisor == 1) return;
    BroadcastArgs args{};
    args.in[0] = args.out = s.out[0];
    args.in[1] = &divisor;
    args.n = plans[0].count;
    args.step[0] = 1;
    split_elements(s, args.n, kCheapGrain,
                   [&](int64_t begin, int64_t end) { divide(&args, begin, end); });
  });
  return {};
}

}  // namespace hasten
