// https://onnx.ai/onnx/operators/onnx__BitShift.html, opsets 11-21, unsigned integers. Shifted by
// as many bits as there are, or more: 0.
#include <limits>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Result<bool> is_left(const OpContext& c) {
  const std::string direction = c.node().attr_string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return c.invalid("direction is '{}', it must be LEFT or RIGHT", direction);
  }
  return direction == "LEFT";
}

Status infer(InferContext& c) {
  HASTEN_CHECK(is_left(c));
  return infer_broadcast(c, kUnsignedInts);
}

Status reference(RefContext& c) {
  HASTEN_TRY(const bool left, is_left(c));
  return reference_ints(c, [=]<class T>(T x, T y) -> T {
    if (y >= static_cast<T>(std::numeric_limits<T>::digits)) return 0;
    const uint64_t bits = static_cast<std::make_unsigned_t<T>>(x);
    return static_cast<T>(left ? bits << y : bits >> y);
  });
}

}  // namespace

std::vector<OpDef> ops_bit_shift() {
  return {{"", "BitShift", 11, kLastOpset, 2, 2, 1, 1, {"direction"}, infer, reference}};
}

}  // namespace hasten
