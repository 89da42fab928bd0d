#include "engine/ops/reduction.h"

#include <cmath>
#include <limits>

#include "engine/ops/convert.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

using ReduceKernel = void (*)(const ReduceArgs*, int64_t, int64_t);

struct KernelName {
  const char* name;
  ReduceKernel kernel;
};

KernelName kernel_of(const KernelTable& k, Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return {"reduce_sum_f32", k.reduce_sum_f32};
    case Reduction::kMean:
      return {"reduce_mean_f32", k.reduce_mean_f32};
    case Reduction::kMax:
      return {"reduce_max_f32", k.reduce_max_f32};
    case Reduction::kMin:
      return {"reduce_min_f32", k.reduce_min_f32};
    case Reduction::kProd:
      return {"reduce_prod_f32", k.reduce_prod_f32};
    case Reduction::kL1:
      return {"reduce_l1_f32", k.reduce_l1_f32};
    case Reduction::kL2:
      return {"reduce_l2_f32", k.reduce_l2_f32};
    case Reduction::kLogSum:
      return {"reduce_log_sum_f32", k.reduce_log_sum_f32};
    case Reduction::kLogSumExp:
      return {"reduce_log_sum_exp_f32", k.reduce_log_sum_exp_f32};
    case Reduction::kSumSquare:
      return {"reduce_sum_square_f32", k.reduce_sum_square_f32};
  }
  return {};
}

// The accumulator: double for floats, 64 wrapping bits for integers that stay integers.
template <class T>
using Accumulator =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>, double>;

template <class A>
A joined(Reduction reduction, A sum, A x) {
  switch (reduction) {
    case Reduction::kProd:
      return WrappingMul()(sum, x);
    case Reduction::kMax:
      return sum < x || x != x ? x : sum;
    case Reduction::kMin:
      return sum > x || x != x ? x : sum;
    case Reduction::kL1:
      return WrappingAdd()(sum, x < 0 ? WrappingSub()(A{0}, x) : x);
    case Reduction::kL2:
    case Reduction::kSumSquare:
      return WrappingAdd()(sum, WrappingMul()(x, x));
    default:
      return WrappingAdd()(sum, x);
  }
}

/// f(accumulator, element) for each element of x.
template <class T, class A, class F>
void for_each_folded(const TensorView& x, const Dims& out_strides, std::vector<A>& sums, F&& f) {
  for_each_broadcast(x.dims, out_strides, out_strides, [&](int64_t i, int64_t at, int64_t) {
    f(sums[static_cast<size_t>(at)], static_cast<A>(Compute<T>::load(x.as<T>()[i])));
  });
}

template <class T>
void reduce_elements(const TensorView& x, Reduction reduction, const Dims& out_strides,
                     int64_t folded, int64_t results, T* out) {
  using A = Accumulator<T>;
  const auto n = static_cast<size_t>(results);
  if (reduction == Reduction::kLogSumExp) {
    // In double also for integers; shifted by the largest element where that is finite.
    std::vector<double> largest(n, -HUGE_VAL), sums(n, 0);
    for_each_folded<T>(x, out_strides, largest,
                       [](double& sum, double v) { sum = joined(Reduction::kMax, sum, v); });
    size_t r = 0;
    for (double& m : largest) m = std::isinf(m) ? 0 : m;
    for_each_broadcast(x.dims, out_strides, out_strides, [&](int64_t i, int64_t at, int64_t) {
      const auto v = static_cast<double>(Compute<T>::load(x.as<T>()[i]));
      sums[static_cast<size_t>(at)] += std::exp(v - largest[static_cast<size_t>(at)]);
    });
    for (; r < n; ++r) out[r] = convert_number<T>(std::log(sums[r]) + largest[r]);
    return;
  }
  // Roots and logarithms of integers: of sums in double, which do not wrap.
  if (reduction == Reduction::kL2 || reduction == Reduction::kLogSum) {
    std::vector<double> sums(n, 0);
    for_each_folded<T>(x, out_strides, sums,
                       [&](double& sum, double v) { sum = joined(reduction, sum, v); });
    for (size_t r = 0; r < n; ++r) {
      out[r] =
          convert_number<T>(reduction == Reduction::kL2 ? std::sqrt(sums[r]) : std::log(sums[r]));
    }
    return;
  }
  A start = reduction == Reduction::kProd ? 1 : 0;
  if constexpr (std::is_integral_v<T>) {
    // NOLINTBEGIN(bugprone-signed-char-misuse): int8_t is a number here.
    if (reduction == Reduction::kMax) start = static_cast<A>(std::numeric_limits<T>::min());
    if (reduction == Reduction::kMin) start = static_cast<A>(std::numeric_limits<T>::max());
    // NOLINTEND(bugprone-signed-char-misuse)
  } else {
    if (reduction == Reduction::kMax) start = -HUGE_VAL;
    if (reduction == Reduction::kMin) start = HUGE_VAL;
  }
  std::vector<A> sums(n, start);
  for_each_folded<T>(x, out_strides, sums, [&](A& sum, A v) { sum = joined(reduction, sum, v); });
  for (size_t r = 0; r < n; ++r) {
    A sum = sums[r];
    if (reduction == Reduction::kMean) sum = static_cast<A>(sum / static_cast<A>(folded));
    out[r] = convert_number<T>(sum);
  }
}

}  // namespace

Status reference_reduction(RefContext& c, Reduction reduction, const std::vector<size_t>& axes,
                           const Dims& out_dims) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, out_dims));
  // Strides of the result seen from the input: 0 along folded axes.
  Dims kept = x.dims;
  int64_t folded = 1;
  for (const size_t axis : axes) {
    folded *= x.dims[axis];
    kept[axis] = 1;
  }
  const int64_t results = count_of(kept);
  Dims strides = broadcast_strides(kept, x.dims);
  if (x.dtype == DType::kBool) {
    if (reduction != Reduction::kMax && reduction != Reduction::kMin) {
      return c.unsupported("dtype bool");
    }
    const bool largest = reduction == Reduction::kMax;
    bool* out = static_cast<bool*>(memory);
    std::fill(out, out + results, !largest);
    for_each_broadcast(x.dims, strides, strides, [&](int64_t i, int64_t at, int64_t) {
      if (x.as<bool>()[i] == largest) out[at] = largest;
    });
    return {};
  }
  if (reduction == Reduction::kMean && folded == 0 && results > 0 && is_int(x.dtype)) {
    return c.invalid("mean of no integers");
  }
  const bool known = dispatch_number(x.dtype, [&](auto t) {
    using T = decltype(t);
    reduce_elements<T>(x, reduction, strides, folded, results, static_cast<T*>(memory));
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

namespace {

/// Neighbouring axes of one kind (kept or folded) as one.
struct AxisRun {
  bool folded;
  int64_t size, stride;
};

/// Plain input and output.
Result<ReduceArgs> plan_plain(const Dims& dims, const std::vector<size_t>& axes) {
  std::vector<AxisRun> runs;
  const Dims strides = row_major_strides(dims);
  size_t next = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool folded = next < axes.size() && axes[next] == d;
    if (folded) ++next;
    // Axes that stay are kept apart from others even if they have one element: what is summed first
    // must not depend on the size of a batch.
    if (!runs.empty() && runs.back().folded == folded) {
      runs.back().size *= dims[d];
      runs.back().stride = strides[d];
    } else {
      runs.push_back({folded, dims[d], strides[d]});
    }
  }
  if (runs.empty()) runs.push_back({false, 1, 1});
  ReduceArgs args{};
  args.along_rows = runs.back().folded;
  args.inner = runs.back().size;
  args.last_lanes = 16;
  args.count = 1;
  int64_t out_stride = args.along_rows ? 1 : args.inner;
  if (args.along_rows) args.count = args.inner;
  if (runs.size() - 1 > 2 * ReduceArgs::kMaxDims) {
    return fail(Code::kUnsupported, "more than {} separate groups of axes",
                2 * ReduceArgs::kMaxDims);
  }
  for (size_t i = 0; i + 1 < runs.size(); ++i) {
    const AxisRun& run = runs[i];
    if (run.folded) {
      args.folded_dims[args.folded] = run.size;
      args.folded_strides[args.folded++] = run.stride;
      args.count *= run.size;
    } else {
      args.kept_dims[args.kept] = run.size;
      args.kept_strides[args.kept++] = run.stride;
    }
  }
  for (int d = args.kept; d-- > 0;) {
    args.out_strides[d] = out_stride;
    out_stride *= args.kept_dims[d];
  }
  return args;
}

/// nchw16c input, all axes from 2 on folded.
Result<ReduceArgs> plan_blocked(const Dims& dims, const std::vector<size_t>& axes, Layout out) {
  bool spatial = dims.size() > 2 && axes.size() == dims.size() - 2;
  for (size_t i = 0; i < axes.size(); ++i) spatial &= axes[i] == i + 2;
  if (!spatial)
    return fail(Code::kUnsupported, "nchw16c folded otherwise than over all of the image");
  const int64_t channels = dims[1], blocks = (channels + 15) / 16;
  ReduceArgs args{};
  args.inner = 16;
  args.kept = 2;
  args.kept_dims[0] = dims[0];
  args.kept_dims[1] = blocks;
  args.folded = 1;
  args.folded_dims[0] = args.count = count_of(std::span(dims).subspan(2));
  args.folded_strides[0] = 16;
  args.kept_strides[1] = args.count * 16;
  args.kept_strides[0] = blocks * args.kept_strides[1];
  const bool to_blocked = out == Layout::kNchw16c;
  args.out_strides[0] = to_blocked ? blocks * 16 : channels;
  args.out_strides[1] = 16;
  args.last_lanes = to_blocked ? 16 : static_cast<int>(channels - (blocks - 1) * 16);
  return args;
}

}  // namespace

Status lower_reduction(LowerContext& c, Reduction reduction, const std::vector<size_t>& axes) {
  const auto [name, kernel] = kernel_of(c.kernels(), reduction);
  if (c.in(0).dtype != DType::kF32) {
    c.refuse(name, fmt::format("no kernel for {}", dtype_name(c.in(0).dtype)));
    return {};
  }
  const Dims dims = c.in_dims(0);
  const Layout in = c.in(0).layout, out = c.out(0).layout;
  if (in == Layout::kPlain && out != Layout::kPlain) {
    c.refuse(name, "the output is nchw16c, the input is not");
    return {};
  }
  auto planned = in == Layout::kPlain ? plan_plain(dims, axes) : plan_blocked(dims, axes, out);
  if (!planned) {
    c.refuse(name, planned.error().message);
    return {};
  }
  const ReduceArgs args = *planned;
  int64_t items = args.along_rows ? 1 : (args.inner + 15) / 16;
  for (int d = 0; d < args.kept; ++d) items *= args.kept_dims[d];
  c.flops(static_cast<double>(count_of(dims)));
  const int64_t work = std::max<int64_t>(args.count * (args.along_rows ? 1 : 16), 1);
  const int64_t grain = std::max<int64_t>(kCheapGrain / work, 1);
  const bool padded = in != Layout::kPlain && out != Layout::kPlain;
  c.take(name, [args, items, grain, kernel = kernel,
                padding = padded ? padding_of(c.out_dims(0), out) : PaddingArgs{},
                zero = c.kernels().zero_padding_f32](const StepArgs& s) {
    ReduceArgs a = args;
    a.x = s.input<float>(0);
    a.out = s.output<float>(0);
    s.parallel(items, grain, [&](int64_t begin, int64_t end) { kernel(&a, begin, end); });
    // A logarithm of zeros is not zero. One group of 16 an item.
    PaddingArgs to_zero = padding;
    to_zero.x = a.out;
    if (to_zero.lanes) zero(&to_zero, 0, items);
  });
  return {};
}

namespace {

/// What the attributes and inputs of a Reduce node say.
struct Plan {
  bool known = true;  // false: the axes are computed
  bool keep = true;
  bool all = false;           // no axes given: fold all
  std::vector<int64_t> axes;  // as given
};

bool axes_are_input(const OpContext& c) { return c.node().def->max_inputs == 2; }
bool noop(const OpContext& c) { return c.node().attr_int("noop_with_empty_axes", 0) != 0; }

Plan read_plan(const OpContext& c, const TensorView* axes_input, bool axes_known) {
  Plan plan;
  plan.keep = c.node().attr_int("keepdims", 1) != 0;
  if (!axes_are_input(c)) {
    plan.axes = c.node().attr_ints("axes");
    plan.all = plan.axes.empty();
    return plan;
  }
  if (c.has_in(1)) {
    plan.known = axes_known;
    if (axes_known) plan.axes = read_ints(*axes_input);
  }
  plan.all = plan.known && plan.axes.empty() && !noop(c);
  return plan;
}

Result<std::vector<size_t>> folded_axes(const OpContext& c, const Plan& plan, size_t rank) {
  std::vector<size_t> axes;
  if (plan.all) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(i);
  } else {
    HASTEN_TRY(axes, resolve_axes(c, plan.axes, rank));
    std::sort(axes.begin(), axes.end());
  }
  return axes;
}

template <class D>
std::vector<D> reduced_shape(const std::vector<D>& in, const std::vector<size_t>& axes, bool keep) {
  std::vector<D> out;
  size_t next = 0;
  for (size_t d = 0; d < in.size(); ++d) {
    const bool folded = next < axes.size() && axes[next] == d;
    if (folded) ++next;
    if (!folded) {
      out.push_back(in[d]);
    } else if (keep) {
      out.push_back(D(1));
    }
  }
  return out;
}

Status infer_reduce(InferContext& c, Reduction reduction) {
  const bool order = reduction == Reduction::kMax || reduction == Reduction::kMin;
  HASTEN_CHECK(check_dtype(c, 0, order ? kNumbers | kBools : kNumbers));
  if (axes_are_input(c) && c.has_in(1)) {
    HASTEN_CHECK(check_int_list(c, c.in(1), "axes", false));
  }
  const Facts& x = c.in(0);
  TensorView axes_view;
  const bool axes_known = c.in(1).known_value();
  if (axes_known) axes_view = c.in(1).value.view();
  const Plan plan = read_plan(c, &axes_view, axes_known);
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  if (!plan.known) {
    // How many axes there are may still be known.
    const std::optional<int64_t> length = list_length(c.in(1));
    if (plan.keep) {
      c.set(0, x.dtype, fresh_shape(x.rank()));
    } else if (length && *length > 0 && *length <= static_cast<int64_t>(x.rank())) {
      c.set(0, x.dtype, fresh_shape(x.rank() - static_cast<size_t>(*length)));
    } else {
      c.set_unknown(0, x.dtype);
    }
    return {};
  }
  HASTEN_TRY(const auto axes, folded_axes(c, plan, x.rank()));
  c.set(0, x.dtype, reduced_shape(x.shape, axes, plan.keep));
  return {};
}

Status reference_reduce(RefContext& c, Reduction reduction) {
  const TensorView& x = c.in(0);
  const Plan plan = read_plan(c, &c.in(1), c.in(1).data != nullptr);
  HASTEN_TRY(const auto axes, folded_axes(c, plan, x.dims.size()));
  return reference_reduction(c, reduction, axes, reduced_shape(x.dims, axes, plan.keep));
}

Status lower_reduce(LowerContext& c, Reduction reduction) {
  TensorView axes_view;
  const bool axes_known = c.in(1).known_value();
  if (axes_known) axes_view = c.in(1).value.view();
  const Plan plan = read_plan(c, &axes_view, axes_known);
  if (!plan.known) {
    c.refuse(kernel_of(c.kernels(), reduction).name, "the axes are computed");
    return {};
  }
  HASTEN_TRY(const auto axes, folded_axes(c, plan, c.in(0).rank()));
  return lower_reduction(c, reduction, axes);
}

template <Reduction kReduction>
OpDef row_of(const char* name) {
  OpDef def{};
  def.domain = "";
  def.name = name;
  def.min_inputs = def.min_outputs = def.max_outputs = 1;
  def.infer = [](InferContext& c) { return infer_reduce(c, kReduction); };
  def.reference = [](RefContext& c) { return reference_reduce(c, kReduction); };
  def.lower = [](LowerContext& c) { return lower_reduce(c, kReduction); };
  return def;
}

}  // namespace

std::vector<OpDef> reduction_rows(const char* name, Reduction reduction, int input_since) {
  OpDef old{};
  switch (reduction) {
    case Reduction::kSum:
      old = row_of<Reduction::kSum>(name);
      break;
    case Reduction::kMean:
      old = row_of<Reduction::kMean>(name);
      break;
    case Reduction::kMax:
      old = row_of<Reduction::kMax>(name);
      break;
    case Reduction::kMin:
      old = row_of<Reduction::kMin>(name);
      break;
    case Reduction::kProd:
      old = row_of<Reduction::kProd>(name);
      break;
    case Reduction::kL1:
      old = row_of<Reduction::kL1>(name);
      break;
    case Reduction::kL2:
      old = row_of<Reduction::kL2>(name);
      break;
    case Reduction::kLogSum:
      old = row_of<Reduction::kLogSum>(name);
      break;
    case Reduction::kLogSumExp:
      old = row_of<Reduction::kLogSumExp>(name);
      break;
    case Reduction::kSumSquare:
      old = row_of<Reduction::kSumSquare>(name);
      break;
  }
  OpDef now = old;
  old.since = 1;
  old.until = input_since - 1;
  old.max_inputs = 1;
  old.attrs = {"axes", "keepdims"};
  now.since = input_since;
  now.until = kLastOpset;
  now.max_inputs = 2;
  now.attrs = {"keepdims", "noop_with_empty_axes"};
  return {old, now};
}

}  // namespace hasten
