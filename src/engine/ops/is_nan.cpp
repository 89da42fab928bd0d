// https://onnx.ai/onnx/operators/onnx__IsNaN.html, opsets 9-21, floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(infer_unary(c, kFloats));
  c.out(0).dtype = DType::kBool;
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(void* memory, c.out(0, DType::kBool, x.dims));
  dispatch_float(x.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t i = 0; i < x.count(); ++i) {
      static_cast<bool*>(memory)[i] = std::isnan(Compute<T>::load(x.as<T>()[i]));
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_is_nan() {
  return {{"", "IsNaN", 9, kLastOpset, 1, 1, 1, 1, {}, infer, reference}};
}

}  // namespace hasten
