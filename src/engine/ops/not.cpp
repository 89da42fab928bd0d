// https://onnx.ai/onnx/operators/onnx__Not.html, opsets 1-21.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kBools); }

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* memory, c.out(0, DType::kBool, x.dims));
  for (int64_t i = 0; i < x.count(); ++i) static_cast<bool*>(memory)[i] = !x.as<bool>()[i];
  return {};
}

Status lower(LowerContext& c) {
  const int64_t count = count_of(c.out_dims(0));
  c.flops(static_cast<double>(count));
  c.in_place({0});
  c.take("equal_bool", [count, kernel = c.kernels().equal_bool](const StepArgs& s) {
    static constexpr bool kFalse = false;
    BroadcastArgs args{};
    args.in[0] = s.in[0];
    args.in[1] = &kFalse;
    args.out = s.out[0];
    args.n = count;
    args.step[0] = 1;
    split_elements(s, count, kCheapGrain,
                   [&](int64_t begin, int64_t end) { kernel(&args, begin, end); });
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_not() {
  return {{"", "Not", 1, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
