// https://onnx.ai/onnx/operators/onnx__Trilu.html, opsets 14-21, every dtype. Strings are filled
// with empty ones.
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &k = c.in(1);
  HASTEN_CHECK(check_int_operand(c, k, "k", false));
  if (k.known_shape() && count_of(to_dims(k.shape)) != 1) {
    return c.invalid("k has the shape {}, it must be one element", shape_text(k.shape));
  }
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  if (x.rank() < 2) return c.invalid("the input has rank {}, it must be at least 2", x.rank());
  c.set(0, x.dtype, x.shape);
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const int64_t k = c.has_in(1) ? *c.in(1).as<int64_t>() : 0;
  const bool upper = c.node().attr_int("upper", 1) != 0;
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const int64_t rows = x.dims[x.dims.size() - 2], columns = x.dims.back();
  dispatch_bits(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.count(); ++i) {
      const int64_t diagonal = i % columns - i / columns % rows;
      const bool keep = upper ? diagonal >= k : diagonal <= k;
      static_cast<T*>(memory)[i] = keep ? x.as<T>()[i] : T();
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_trilu() {
  return {{"", "Trilu", 14, kLastOpset, 1, 2, 1, 1, {"upper"}, infer, reference}};
}

}  // namespace hasten
