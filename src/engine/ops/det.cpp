// https://onnx.ai/onnx/operators/onnx__Det.html, opsets 11-21, floats; by elimination in double.
// The determinant of an empty matrix is 1.
#include <cmath>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtype(c, 0, kFloats));
  const Facts& x = c.in(0);
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  if (x.rank() < 2) return c.invalid("X has rank {}, it must be at least 2", x.rank());
  const Dim rows = x.shape[x.rank() - 2], columns = x.shape.back();
  if (rows.known() && columns.known() && !(rows == columns)) {
    return c.invalid("X is {}, its matrices must be square", x.text());
  }
  Shape out(x.shape.begin(), x.shape.end() - 2);
  return set_checked(c, 0, x.dtype, std::move(out));
}

double determinant(std::vector<double>& a, size_t n) {
  double product = 1;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    if (pivot != k) {
      std::swap_ranges(a.begin() + static_cast<ptrdiff_t>(k * n),
                       a.begin() + static_cast<ptrdiff_t>((k + 1) * n),
                       a.begin() + static_cast<ptrdiff_t>(pivot * n));
      product = -product;
    }
    const double p = a[k * n + k];
    product *= p;
    if (p == 0) return product;
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / p;
      for (size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return product;
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const Dims out(x.dims.begin(), x.dims.end() - 2);
  const auto n = static_cast<size_t>(x.dims.back());
  HASTEN_TRY(void* memory, c.out(0, x.dtype, out));
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> matrix(n * n);
    for (int64_t i = 0; i < count_of(out); ++i) {
      const T* from = x.as<T>() + i * static_cast<int64_t>(matrix.size());
      for (size_t k = 0; k < matrix.size(); ++k) matrix[k] = Compute<T>::load(from[k]);
      static_cast<T*>(memory)[i] = convert_number<T>(determinant(matrix, n));
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

}  // namespace

std::vector<OpDef> ops_det() {
  return {{"", "Det", 11, kLastOpset, 1, 1, 1, 1, {}, infer, reference}};
}

}  // namespace hasten
