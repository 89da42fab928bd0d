#include "engine/ops/elementwise.h"
#include "engine/ops/shape_math.h"

namespace hasten {

Status check_dtype(const InferContext& c, size_t i, DTypes allowed) {
  const DType t = c.in(i).dtype;
  if (t == DType::kNone || (allowed & dtypes({t}))) return {};
  std::string names;
  for (int k = 1; k < 32; ++k) {
    if (allowed & (DTypes{1} << k)) {
      names += names.empty() ? "" : ", ";
      names += dtype_name(static_cast<DType>(k));
    }
  }
  return c.invalid("input {} has dtype {}, it must be one of {}", i, dtype_name(t), names);
}

DType common_dtype(const InferContext& c, size_t first) {
  for (size_t i = first; i < c.inputs(); ++i) {
    if (c.in(i).dtype != DType::kNone) return c.in(i).dtype;
  }
  return DType::kNone;
}

Status check_same_dtype(const InferContext& c, size_t first) {
  const DType want = common_dtype(c, first);
  for (size_t i = first; i < c.inputs(); ++i) {
    const DType t = c.in(i).dtype;
    if (t != DType::kNone && t != want) {
      return c.invalid("inputs have dtypes {} and {}, they must be the same", dtype_name(want),
                       dtype_name(t));
    }
  }
  return {};
}

Dims broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> out) {
  Dims strides(out.size(), 0);
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[out.size() - dims.size() + i] = dims[i] == 1 ? 0 : stride;
    stride *= dims[i];
  }
  return strides;
}

bool plain_f32(LowerContext& c, const char* kernel) {
  if (c.in(0).dtype != DType::kF32) {
    c.refuse(kernel, fmt::format("no kernel for {}", dtype_name(c.in(0).dtype)));
  } else if (c.in(0).layout != Layout::kPlain || c.out(0).layout != Layout::kPlain) {
    c.refuse(kernel, "needs the plain layout");
  } else {
    return true;
  }
  return false;
}

Result<Dims> broadcast_dims(std::span<const int64_t> a, std::span<const int64_t> b) {
  HASTEN_TRY(const Shape shape, broadcast(to_shape(a), to_shape(b)));
  return to_dims(shape);
}

Status infer_broadcast(InferContext& c, DTypes allowed, DType out_dtype) {
  HASTEN_CHECK(check_same_dtype(c));
  for (size_t i = 0; i < c.inputs(); ++i) HASTEN_CHECK(check_dtype(c, i, allowed));
  const DType dtype = out_dtype != DType::kNone ? out_dtype : common_dtype(c);
  Shape shape;
  bool known = true;
  for (size_t i = 0; i < c.inputs(); ++i) {
    if (!c.in(i).has_shape) {
      known = false;
      continue;
    }
    auto wider = broadcast(shape, c.in(i).shape);
    if (!wider) return c.invalid("{}", wider.error().message);
    shape = std::move(*wider);
  }
  if (!known) {
    c.set_unknown(0, dtype);
    return {};
  }
  return set_checked(c, 0, dtype, std::move(shape));
}

Status infer_unary(InferContext& c, DTypes allowed) {
  HASTEN_CHECK(check_dtype(c, 0, allowed));
  const Facts& x = c.in(0);
  if (x.has_shape) {
    c.set(0, x.dtype, x.shape);
  } else {
    c.set_unknown(0, x.dtype);
  }
  return {};
}

namespace {

/// One operand over the dims of the walk: strides, and what it does within a row.
struct Walk {
  Dims strides;
  int step = 1;
};

Result<BroadcastPlan> plan_plain(std::span<const Placement> operands, const Dims& out) {
  std::vector<Dims> strides;
  for (const Placement& p : operands) strides.push_back(broadcast_strides(p.dims, out));
  // Dims of one element vanish; neighbours merge where every operand runs on from one to the next.
  Dims dims;
  std::vector<Dims> merged(operands.size());
  for (size_t d = 0; d < out.size(); ++d) {
    if (out[d] == 1) continue;
    bool runs_on = !dims.empty();
    for (size_t k = 0; k < operands.size() && runs_on; ++k) {
      runs_on = merged[k].back() == strides[k][d] * out[d];
    }
    if (runs_on) {
      dims.back() *= out[d];
      for (size_t k = 0; k < operands.size(); ++k) merged[k].back() = strides[k][d];
    } else {
      dims.push_back(out[d]);
      for (size_t k = 0; k < operands.size(); ++k) merged[k].push_back(strides[k][d]);
    }
  }
  if (dims.empty()) {
    dims.push_back(1);
    for (Dims& m : merged) m.push_back(0);
  }
  if (dims.size() - 1 > BroadcastArgs::kMaxOuter) {
    return fail(Code::kUnsupported, "broadcasts over {} separate dims, at most {}", dims.size(),
                BroadcastArgs::kMaxOuter + 1);
  }
  BroadcastPlan plan;
  plan.args.n = dims.back();
  plan.args.outer = static_cast<int>(dims.size()) - 1;
  for (size_t d = 0; d + 1 < dims.size(); ++d) {
    plan.args.dims[d] = dims[d];
    for (size_t k = 0; k < operands.size(); ++k) plan.args.strides[k][d] = merged[k][d];
  }
  for (size_t k = 0; k < operands.size(); ++k) {
    plan.args.step[k] = static_cast<int>(merged[k].back());
    plan.args.last_lanes[k] = 16;
  }
  return plan;
}

/// Blocked images of the same channels that broadcast over pixels in any way: as they are stored.
Result<BroadcastPlan> plan_stored(std::span<const Placement> operands, const Dims& out) {
  const auto stored = [](Dims dims) {
    dims[1] = (dims[1] + 15) / 16;
    dims.push_back(16);
    return dims;
  };
  std::vector<Placement> pixels;
  for (const Placement& p : operands) {
    if (p.layout != Layout::kNchw16c || p.dims.size() != out.size() || p.dims[1] != out[1]) {
      return fail(Code::kUnsupported, "operand of {} {} broadcasts otherwise than by channel",
                  dims_text(p.dims), layout_name(p.layout));
    }
    pixels.push_back({stored(p.dims)});
  }
  return plan_plain(pixels, stored(out));
}

Result<BroadcastPlan> plan_blocked(std::span<const Placement> operands, const Dims& out) {
  if (out.size() < 2) return fail(Code::kUnsupported, "nchw16c of rank {}", out.size());
  const int64_t channels = out[1], blocks = (channels + 15) / 16;
  const int64_t pixels = count_of(std::span(out).subspan(2));
  BroadcastPlan plan;
  bool rows = false;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Placement& p = operands[k];
    plan.args.last_lanes[k] = 16;
    if (count_of(p.dims) == 1 && p.layout == Layout::kPlain) continue;  // all strides and step 0
    Dims dims(out.size() - std::min(out.size(), p.dims.size()), 1);
    dims.insert(dims.end(), p.dims.begin(), p.dims.end());
    const bool whole_image = std::equal(dims.begin() + 2, dims.end(), out.begin() + 2);
    const bool one_pixel = count_of(std::span(dims).subspan(2)) == 1;
    if (dims[1] != channels || !(whole_image || one_pixel)) return plan_stored(operands, out);
    const int64_t operand_pixels = whole_image ? pixels : 1;
    if (p.layout == Layout::kNchw16c) {
      plan.args.strides[k][0] = dims[0] == 1 ? 0 : blocks * operand_pixels * 16;
      plan.args.strides[k][1] = operand_pixels * 16;
    } else if (one_pixel) {
      plan.args.strides[k][0] = dims[0] == 1 ? 0 : channels;
      plan.args.strides[k][1] = 16;
      plan.args.last_lanes[k] = static_cast<int>(channels - (blocks - 1) * 16);
    } else {
      return fail(Code::kUnsupported, "operand {} is plain, the output is nchw16c", k);
    }
    const bool moves = p.layout == Layout::kNchw16c && whole_image;
    plan.args.step[k] = moves ? 1 : BroadcastArgs::kLanes16;
    if (!moves || dims[0] != out[0]) rows = true;
  }
  plan.args.n = pixels * 16;
  if (rows) {
    plan.args.outer = 2;
    plan.args.dims[0] = out[0];
    plan.args.dims[1] = blocks;
  } else {
    plan.args.n *= out[0] * blocks;
  }
  return plan;
}

}  // namespace

PaddingArgs padding_of(std::span<const int64_t> dims, Layout layout) {
  PaddingArgs args{};
  if (layout != Layout::kNchw16c || dims.size() < 2 || dims[1] % 16 == 0) return args;
  args.blocks = (dims[1] + 15) / 16;
  args.pixels = count_of(dims.subspan(2));
  args.lanes = static_cast<int>(dims[1] % 16);
  return args;
}

Result<BroadcastPlan> plan_broadcast(std::span<const Placement> operands, const Placement& out) {
  BroadcastPlan plan;
  if (out.layout == Layout::kPlain) {
    for (const Placement& p : operands) {
      if (p.layout != Layout::kPlain) {
        return fail(Code::kUnsupported, "an operand is {}, the output plain",
                    layout_name(p.layout));
      }
    }
    HASTEN_TRY(plan, plan_plain(operands, out.dims));
  } else {
    HASTEN_TRY(plan, plan_blocked(operands, out.dims));
  }
  plan.count = storage_count(out.dims, out.layout);
  plan.padding = padding_of(out.dims, out.layout);
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].layout == out.layout && count_of(operands[k].dims) == count_of(out.dims)) {
      plan.in_place.push_back(static_cast<int>(k));
    }
  }
  return plan;
}

Status lower_broadcast(LowerContext& c, std::initializer_list<TypedKernel> kernels, size_t operands,
                       size_t typed_by, double flops_per_element) {
  const TypedKernel* chosen = nullptr;
  for (const TypedKernel& k : kernels) {
    if (k.dtype == c.in(typed_by).dtype) chosen = &k;
  }
  if (chosen == nullptr) {
    c.refuse(kernels.begin()->name,
             fmt::format("no kernel for {}", dtype_name(c.in(typed_by).dtype)));
    return {};
  }
  std::vector<Placement> placements;
  for (size_t k = 0; k < operands; ++k) placements.push_back({c.in_dims(k), c.in(k).layout});
  const Placement out{c.out_dims(0), c.out(0).layout};
  if (out.layout != Layout::kPlain && chosen->dtype != DType::kF32) {
    c.refuse(chosen->name, "only float is laid out by blocks of channels");
    return {};
  }
  auto planned = plan_broadcast(placements, out);
  if (!planned) {
    c.refuse(chosen->name, planned.error().message);
    return {};
  }
  const BroadcastPlan& plan = *planned;
  c.flops(static_cast<double>(count_of(out.dims)) * flops_per_element);
  std::vector<int> in_place;
  for (const int k : plan.in_place) {
    const DType dtype = c.in(static_cast<size_t>(k)).dtype;
    if (dtype_size(dtype) == dtype_size(c.out(0).dtype)) in_place.push_back(k);
  }
  c.in_place(std::move(in_place));
  const int64_t grain = flops_per_element > 4 ? kCostlyGrain : kCheapGrain;
  c.take(chosen->name, [plan, operands, grain, kernel = chosen->kernel,
                        zero = c.kernels().zero_padding_f32](const StepArgs& s) {
    BroadcastArgs args = plan.args;
    PaddingArgs padding = plan.padding;
    for (size_t k = 0; k < operands; ++k) args.in[k] = s.in[k];
    args.out = s.out[0];
    padding.x = s.output<float>(0);
    split_elements(s, plan.count, grain, [&](int64_t begin, int64_t end) {
      kernel(&args, begin, end);
      if (padding.lanes) zero(&padding, begin / 16, end / 16);
    });
  });
  return {};
}

std::vector<OpDef> unary_ops(std::vector<OpDef> rows) {
  for (OpDef& row : rows) row.unary = row.lower != nullptr;
  return rows;
}

Status lower_unary(LowerContext& c, const char* name, UnaryKernel kernel, float alpha, float beta,
                   double flops) {
  return lower_unary_with(
      c, name, kernel,
      [=](const StepArgs&) {
        return UnaryParams{alpha, beta};
      },
      flops);
}

Status lower_unary_with(LowerContext& c, const char* name, UnaryKernel kernel,
                        std::function<UnaryParams(const StepArgs&)> params, double flops) {
  if (c.in(0).dtype != DType::kF32) {
    c.refuse(name, fmt::format("no kernel for {}", dtype_name(c.in(0).dtype)));
    return {};
  }
  if (c.in(0).layout != c.out(0).layout) {
    c.refuse(name, fmt::format("input is {}, output {}", layout_name(c.in(0).layout),
                               layout_name(c.out(0).layout)));
    return {};
  }
  const Dims dims = c.out_dims(0);
  const int64_t count = storage_count(dims, c.out(0).layout);
  c.flops(static_cast<double>(count_of(dims)) * flops);
  c.in_place({0});
  const int64_t grain = flops > 4 ? kCostlyGrain : kCheapGrain;
  c.take(name, [=, params = std::move(params), padding = padding_of(dims, c.out(0).layout),
                zero = c.kernels().zero_padding_f32](const StepArgs& s) {
    const UnaryParams p = params(s);
    const UnaryArgs args{s.input<float>(0), s.output<float>(0), p.alpha, p.beta};
    PaddingArgs to_zero = padding;
    to_zero.x = args.out;
    split_elements(s, count, grain, [&](int64_t begin, int64_t end) {
      kernel(&args, begin, end);
      if (to_zero.lanes) zero(&to_zero, begin / 16, end / 16);
    });
  });
  return {};
}

}  // namespace hasten
