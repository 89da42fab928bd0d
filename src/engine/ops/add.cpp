// https://onnx.ai/onnx/operators/onnx__Add.html, opsets 7-21, all numbers.
#include "engine/kernels/kernels.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/table.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_binary(c); }

Status reference(RefContext& c) {
  Status status;
  const DType dtype = c.in(0).dtype;
  const bool known = dispatch_number(dtype, [&](auto t) {
    using T = decltype(t);
    status = reference_binary<T>(c, dtype, [](auto x, auto y) { return x + y; });
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(dtype));
  return status;
}

Status lower(LowerContext& c) {
  if (c.in(0).dtype != DType::kF32) {
    c.refuse("add_f32", "not float");
    return {};
  }
  const Dims a = c.in_dims(0), b = c.in_dims(1), out = c.out_dims(0);
  const bool a_whole = a == out, b_whole = b == out;
  if (!(a_whole || count_of(a) == 1) || !(b_whole || count_of(b) == 1)) {
    c.refuse("add_f32", fmt::format("broadcasts {} with {}", dims_text(a), dims_text(b)));
    return {};
  }
  BinaryArgs args{};
  args.a_step = a_whole;
  args.b_step = b_whole;
  const int64_t n = count_of(out);
  c.flops(static_cast<double>(n));
  c.in_place({0, 1});
  c.take("add_f32", [args, n, kernel = c.kernels().add_f32](const StepArgs& s) mutable {
    args.a = s.input<float>(0);
    args.b = s.input<float>(1);
    args.out = s.output<float>(0);
    s.parallel(n, 16384, [&](int64_t begin, int64_t end) { kernel(&args, begin, end); });
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_add() {
  return {{"", "Add", 7, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
