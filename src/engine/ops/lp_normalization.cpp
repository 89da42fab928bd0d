// https://onnx.ai/onnx/operators/onnx__LpNormalization.html, opsets 1-21, floats. Where the norm is
// 0, so is the output.
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const int64_t p = c.node().attr_int("p", 2);
  if (p != 1 && p != 2) return c.invalid("p is {}, it must be 1 or 2", p);
  if (c.in(0).has_shape) {
    HASTEN_CHECK(resolve_axis(c, c.node().attr_int("axis", -1), c.in(0).rank()));
  }
  return infer_unary(c, kFloats);
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const bool squares = c.node().attr_int("p", 2) == 2;
  HASTEN_TRY(const size_t axis, resolve_axis(c, c.node().attr_int("axis", -1), x.dims.size()));
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const int64_t n = x.dims[axis], inner = count_of(std::span(x.dims).subspan(axis + 1));
  const int64_t rows = n == 0 ? 0 : x.count() / n;
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t base = row / inner * n * inner + row % inner;
      const auto at = [&](int64_t i) {
        return static_cast<double>(Compute<T>::load(x.as<T>()[base + i * inner]));
      };
      double norm = 0;
      for (int64_t i = 0; i < n; ++i) norm += squares ? at(i) * at(i) : std::abs(at(i));
      if (squares) norm = std::sqrt(norm);
      for (int64_t i = 0; i < n; ++i) {
        static_cast<T*>(memory)[base + i * inner] = convert_number<T>(norm == 0 ? 0 : at(i) / norm);
      }
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

}  // namespace

std::vector<OpDef> ops_lp_normalization() {
  return {{"", "LpNormalization", 1, kLastOpset, 1, 1, 1, 1, {"axis", "p"}, infer, reference}};
}

}  // namespace hasten
