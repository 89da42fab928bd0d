// hasten.Reorder (made by passes): the same f32 tensor [N,C,...] in another layout. Attribute `to`:
// "nchw16c" or "plain". Its meaning is that of Identity; layouts are those of the values.
#include "engine/kernels/kernels.h"
#include "engine/ops/numbers.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const std::string to = c.node().attr_string("to", "");
  if (to != "nchw16c" && to != "plain") {
    return c.invalid("to is '{}', it must be nchw16c or plain", to);
  }
  const Facts& x = c.in(0);
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  if (x.rank() < 3) return c.invalid("input is {}, a batch of images is needed", x.text());
  c.set(0, x.dtype, x.shape);
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* y, c.out(0, x.dtype, x.dims));
  copy_elements(x.dtype, x.data, y, x.count());
  return {};
}

Status lower(LowerContext& c) {
  const Layout from = c.in(0).layout, to = c.out(0).layout;
  if (from == to) {
    c.alias(0);
    return {};
  }
  if (c.in(0).dtype != DType::kF32) {
    c.refuse("reorder_f32", "not float");
    return {};
  }
  const Dims dims = c.in_dims(0);
  ReorderArgs args{};
  args.channels = dims[1];
  args.pixels = count_of(std::span(dims).subspan(2));
  const int64_t items = dims[0] * ((dims[1] + 15) / 16);
  const bool blocked = to == Layout::kNchw16c;
  const auto kernel =
      blocked ? c.kernels().reorder_to_blocked_f32 : c.kernels().reorder_to_plain_f32;
  c.take(blocked ? "reorder_to_blocked_f32" : "reorder_to_plain_f32", [=](const StepArgs& s) {
    ReorderArgs a = args;
    a.x = s.input<float>(0);
    a.y = s.output<float>(0);
    s.parallel(items, 1, [&](int64_t begin, int64_t end) { kernel(&a, begin, end); });
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_reorder() {
  return {{"hasten", "Reorder", 1, kLastOpset, 1, 1, 1, 1, {"to"}, infer, reference, lower}};
}

}  // namespace hasten
