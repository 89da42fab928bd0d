// https://onnx.ai/onnx/operators/onnx__Div.html, opsets 7-21, all numbers.
// Integers: towards zero; by zero is an error, the smallest number by -1 wraps.
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_broadcast(c, kNumbers); }

Status reference(RefContext& c) {
  bool by_zero = false;
  HASTEN_CHECK(reference_numbers(c, [&]<class T>(T x, T y) -> T {
    if constexpr (std::is_floating_point_v<T>) {
      return x / y;
    } else {
      if (y == 0) {
        by_zero = true;
        return 0;
      }
      if constexpr (std::is_signed_v<T>) {
        if (y == -1) return WrappingSub()(T{0}, x);
      }
      return static_cast<T>(x / y);
    }
  }));
  if (by_zero) return c.invalid("divides an integer by zero");
  return {};
}

Status lower(LowerContext& c) {
  return lower_broadcast(c, {{DType::kF32, "div_f32", c.kernels().div_f32}});
}

}  // namespace

std::vector<OpDef> ops_div() {
  return {{"", "Div", 7, kLastOpset, 2, 2, 1, 1, {}, infer, reference, lower}};
}

}  // namespace hasten
