// https://onnx.ai/onnx/operators/onnx__BitwiseNot.html, opsets 18-21, integers.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kInts); }

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  dispatch_int(x.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t i = 0; i < x.count(); ++i) {
      static_cast<T*>(memory)[i] = static_cast<T>(~x.as<T>()[i]);
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_bitwise_not() {
  return {{"", "BitwiseNot", 18, kLastOpset, 1, 1, 1, 1, {}, infer, reference}};
}

}  // namespace hasten
