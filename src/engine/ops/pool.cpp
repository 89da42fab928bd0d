#include "engine/ops/pool.h"

#include <memory>

namespace hasten {

Status infer_pool(InferContext& c, bool (*allowed)(DType)) {
  const Facts& x = c.in(0);
  if (x.dtype != DType::kNone && !allowed(x.dtype)) {
    return c.invalid("input has dtype {}, which this operator doesn't take", dtype_name(x.dtype));
  }
  const size_t named = c.node().attr_ints("kernel_shape").size();
  if (named == 0) return c.invalid("kernel_shape is missing");
  if (x.has_shape && x.rank() != named + 2) {
    return c.invalid("kernel_shape has {} numbers, input is {}", named, x.text());
  }
  HASTEN_TRY(const Window w, read_window(c, named, {}));
  Shape in = x.shape;
  if (!x.has_shape) {
    in.resize(named + 2);
    for (Dim& d : in) d = Dim::fresh();
  }
  HASTEN_TRY(const Shape out, window_shape(c, w, in, in[1]));
  c.set(0, x.dtype, out);
  if (c.has_out(1)) c.set(1, DType::kI64, out);
  return {};
}

Result<std::vector<WindowAxis>> pool_axes(const OpContext& c, const Dims& in) {
  HASTEN_TRY(const Window w, read_window(c, in.size() - 2, {}));
  std::vector<WindowAxis> axes(w.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& a = axes[i];
    HASTEN_TRY(const Dim out, window_output(c, w, i, Dim(in[i + 2])));
    a.in = in[i + 2];
    a.out = out.value();
    a.kernel = w.kernel[i];
    a.stride = w.strides[i];
    a.dilation = w.dilations[i];
    resolve_pads(w, i, a.in, &a.pad, &a.pad_end);
  }
  return axes;
}

Dims pool_dims(const Dims& in, const std::vector<WindowAxis>& axes) {
  Dims out = {in[0], in[1]};
  for (const WindowAxis& a : axes) out.push_back(a.out);
  return out;
}

int64_t counted_taps(const std::vector<WindowAxis>& axes, const Dims& at) {
  int64_t count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const WindowAxis& a = axes[i];
    count *= window_taps(at[i], a.stride, a.dilation, 0, a.kernel, a.in + a.pad + a.pad_end).count;
  }
  return count;
}

Status lower_pool(LowerContext& c, const std::string& name, PoolKernel kernel, bool count_padding) {
  const Dims in = c.in_dims(0);
  if (in.size() > 5) {
    c.refuse(name, "more than three spatial axes");
    return {};
  }
  const bool blocked = c.in(0).layout == Layout::kNchw16c;
  HASTEN_TRY(const std::vector<WindowAxis> axes, pool_axes(c, in));
  WindowAxes three;
  std::copy(axes.begin(), axes.end(), three.end() - static_cast<int64_t>(axes.size()));
  PoolArgs args{};
  args.planes = blocked ? (in[1] + 15) / 16 : in[1];
  WindowCut cut;
  cut.may_turn = blocked;
  const int64_t pieces = in[0] * args.planes;
  if (pieces > 0 && pieces < 16) cut.band = (three[1].out * pieces + 15) / 16;
  auto plan = std::make_shared<WindowPlan>();
  if (!plan_windows(three, cut, plan.get())) {
    c.refuse(name, "an axis is too long");
    return {};
  }
  args.chunk_count = plan->chunk_count();
  args.steps = plan->steps;
  args.in_pixels = plan->in_pixels;
  args.out_pixels = plan->out_pixels;
  args.count_padding = count_padding;
  const int64_t items = pieces * args.chunk_count;
  c.flops(plan->tap_visits * static_cast<double>(in[0] * in[1]));
  c.take(name, [=](const StepArgs& s) {
    PoolArgs a = args;
    a.rects = plan->rects.data();
    a.chunks = plan->chunks.data();
    a.x = s.in[0];
    a.y = s.out[0];
    s.parallel(items, 1, [&](int64_t begin, int64_t end) { kernel(&a, begin, end); });
  });
  return {};
}

}  // namespace hasten
