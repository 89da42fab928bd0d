// https://onnx.ai/onnx/operators/onnx__AffineGrid.html, opsets 20-21, floats, 2-D and 3-D. With
// align_corners, an axis of one pixel has it at 0.
#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

/// [N, spatial..., number of spatial axes] of a size [N, C, spatial...].
Result<Shape> grid_shape(const OpContext& c, const std::vector<int64_t>& size) {
  if (size.size() != 4 && size.size() != 5) {
    return c.invalid("size has {} numbers, it must have 4 or 5", size.size());
  }
  Shape shape;
  for (size_t i = 0; i < size.size(); ++i) {
    if (i == 1) continue;
    if (size[i] < 0 && !Dim::is_symbol_code(size[i])) {
      return c.invalid("size is {}, it has a negative number", dims_text(size));
    }
    shape.push_back(Dim::from_code(size[i]));
  }
  shape.push_back(Dim(static_cast<int64_t>(size.size()) - 2));
  if (is_known(shape)) {
    if (auto count = checked_count(to_dims(shape)); !count) {
      return c.invalid("{}", count.error().message);
    }
  }
  return shape;
}

Status infer(InferContext& c) {
  const Facts &theta = c.in(0), &size = c.in(1);
  HASTEN_CHECK(check_dtype(c, 0, kFloats));
  HASTEN_CHECK(check_int_list(c, size, "size", false));
  if (theta.has_shape && theta.rank() != 3) {
    return c.invalid("theta is {}, it must have rank 3", theta.text());
  }
  c.set_unknown(0, theta.dtype);
  if (const auto known = known_ints(size)) {
    HASTEN_TRY(Shape shape, grid_shape(c, *known));
    const auto axes = static_cast<int64_t>(known->size()) - 2;
    const Dim want[] = {shape[0], Dim(axes), Dim(axes + 1)};
    for (size_t i = 0; i < 3 && theta.has_shape; ++i) {
      if (theta.shape[i].known() && want[i].known() && !(theta.shape[i] == want[i])) {
        return c.invalid("theta is {}, for the size {} it must be [{},{},{}]", theta.text(),
                         dims_text(*known), want[0].text(), axes, axes + 1);
      }
    }
    c.set(0, theta.dtype, std::move(shape));
  } else if (theta.has_shape && theta.shape[1].known() &&
             (theta.shape[1] == Dim(2) || theta.shape[1] == Dim(3))) {
    const int64_t axes = theta.shape[1].value();
    Shape shape = fresh_shape(static_cast<size_t>(axes) + 2);
    shape.front() = theta.shape[0];
    shape.back() = Dim(axes);
    c.set(0, theta.dtype, std::move(shape));
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView& theta = c.in(0);
  HASTEN_TRY(const Shape shape, grid_shape(c, read_ints(c.in(1))));
  const Dims dims = to_dims(shape);
  const int64_t axes = dims.back();
  if (theta.dims != Dims{dims[0], axes, axes + 1}) {
    return c.invalid("theta is {}, for the grid {} it must be [{},{},{}]", dims_text(theta.dims),
                     dims_text(dims), dims[0], axes, axes + 1);
  }
  const bool corners = c.node().attr_int("align_corners", 0) != 0;
  HASTEN_TRY(void* memory, c.out(0, theta.dtype, dims));
  const auto position = [&](int64_t i, int64_t n) {
    const auto at = static_cast<double>(i), count = static_cast<double>(n);
    if (!corners) return (2 * at + 1) / count - 1;
    return n == 1 ? 0 : 2 * at / (count - 1) - 1;
  };
  const bool known = dispatch_float(theta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const int64_t pixels = count_of(std::span(dims).subspan(1, static_cast<size_t>(axes)));
    T* out = static_cast<T*>(memory);
    for (int64_t n = 0; n < dims[0]; ++n) {
      const T* rows = theta.as<T>() + n * axes * (axes + 1);
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        double place[4];  // x, y, z, 1: the innermost axis first
        int64_t rest = pixel;
        for (int64_t k = 0; k < axes; ++k) {
          const int64_t length = dims[static_cast<size_t>(axes - k)];
          place[k] = position(rest % length, length);
          rest /= length;
        }
        place[axes] = 1;
        for (int64_t r = 0; r < axes; ++r) {
          double sum = 0;
          for (int64_t k = 0; k <= axes; ++k) {
            sum += place[k] * static_cast<double>(Compute<T>::load(rows[r * (axes + 1) + k]));
          }
          *out++ = convert_number<T>(sum);
        }
      }
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(theta.dtype));
  return {};
}

}  // namespace

std::vector<OpDef> ops_affine_grid() {
  return {{"", "AffineGrid", 20, kLastOpset, 2, 2, 1, 1, {"align_corners"}, infer, reference}};
}

}  // namespace hasten
