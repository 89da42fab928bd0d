// https://onnx.ai/onnx/operators/onnx__IsInf.html, opsets 10-19 f32 f64, 20-21 all floats.
#include <cmath>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const bool all = c.node().def->since >= 20;
  HASTEN_CHECK(infer_unary(c, all ? kFloats : dtypes({DType::kF32, DType::kF64})));
  c.out(0).dtype = DType::kBool;
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const bool negative = c.node().attr_int("detect_negative", 1) != 0;
  const bool positive = c.node().attr_int("detect_positive", 1) != 0;
  HASTEN_TRY(void* memory, c.out(0, DType::kBool, x.dims));
  dispatch_float(x.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t i = 0; i < x.count(); ++i) {
      const auto v = Compute<T>::load(x.as<T>()[i]);
      static_cast<bool*>(memory)[i] = std::isinf(v) && (v < 0 ? negative : positive);
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_is_inf() {
  OpDef first{"",    "IsInf",  10, 19, 1, 1, 1, 1, {"detect_negative", "detect_positive"},
              infer, reference};
  OpDef now = first;
  now.since = 20;
  now.until = kLastOpset;
  return {first, now};
}

}  // namespace hasten
