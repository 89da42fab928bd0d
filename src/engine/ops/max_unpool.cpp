// https://onnx.ai/onnx/operators/onnx__MaxUnpool.html, opsets 9-21, floats. Indices are those of
// the shape that the attributes give; output_shape may only add zeros behind it. Of equal indices
// the last element stays.
#include "engine/ops/elementwise.h"
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"
#include "engine/ops/window.h"

namespace hasten {

namespace {

/// [N, C, spatial...] from the attributes. Errors: invalid_model.
Result<Shape> inferred_shape(const OpContext& c, const Shape& x) {
  if (x.size() < 3) return c.invalid("X has rank {}, it must be at least 3", x.size());
  HASTEN_TRY(const Window w, read_window(c, x.size() - 2, {}));
  Shape out{x[0], x[1]};
  for (size_t i = 0; i < w.rank(); ++i) {
    const Dim in = x[i + 2];
    if (!in.known()) {
      out.push_back(Dim::fresh());
      continue;
    }
    int64_t size = 0;
    if (__builtin_mul_overflow(in.value() - 1, w.strides[i], &size) ||
        __builtin_add_overflow(size, w.kernel[i] - w.pads_begin[i] - w.pads_end[i], &size) ||
        size < 0) {
      return c.invalid("axis {} of {} elements unpools to no size (kernel {}, stride {})", i + 2,
                       in.value(), w.kernel[i], w.strides[i]);
    }
    out.push_back(Dim(size));
  }
  return out;
}

Status check_larger(const OpContext& c, const Shape& inferred, std::span<const int64_t> given) {
  if (given.size() != inferred.size()) {
    return c.invalid("output_shape has {} numbers, X has rank {}", given.size(), inferred.size());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (Dim::is_symbol_code(given[i]) || !inferred[i].known()) continue;
    if (given[i] < inferred[i].value()) {
      return c.invalid("output_shape {} is smaller than {}, which the attributes give",
                       dims_text(given), shape_text(inferred));
    }
  }
  return {};
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &indices = c.in(1);
  HASTEN_CHECK(check_dtype(c, 0, kFloats));
  HASTEN_CHECK(check_int_operand(c, indices, "I", false));
  if (c.has_in(2)) HASTEN_CHECK(check_int_list(c, c.in(2), "output_shape", false));
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  if (x.known_shape() && indices.known_shape() && !(x.shape == indices.shape)) {
    return c.invalid("I is {}, X is {}", shape_text(indices.shape), shape_text(x.shape));
  }
  HASTEN_TRY(Shape out, inferred_shape(c, x.shape));
  if (is_known(out)) {
    if (auto count = checked_count(to_dims(out)); !count) {
      return c.invalid("{}", count.error().message);
    }
  }
  if (c.has_in(2)) {
    const auto given = known_ints(c.in(2));
    if (given) {
      HASTEN_CHECK(check_larger(c, out, *given));
      for (size_t i = 0; i < out.size(); ++i) out[i] = Dim::from_code((*given)[i]);
      if (is_known(out)) {
        if (auto count = checked_count(to_dims(out)); !count) {
          return c.invalid("{}", count.error().message);
        }
      }
    } else {
      out = fresh_shape(out.size());
    }
  }
  c.set(0, x.dtype, std::move(out));
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const Shape shape, inferred_shape(c, to_shape(x.dims)));
  const Dims inferred = to_dims(shape);
  Dims out = inferred;
  if (c.has_in(2)) {
    out = read_ints(c.in(2));
    HASTEN_CHECK(check_larger(c, shape, out));
  }
  HASTEN_TRY(void* memory, c.out(0, x.dtype, out));
  const int64_t count = count_of(inferred);
  const Dims strides = row_major_strides(out);
  Status status;
  dispatch_bits(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* y = static_cast<T*>(memory);
    std::fill(y, y + count_of(out), T());
    for (int64_t i = 0; i < x.count(); ++i) {
      int64_t rest = c.in(1).as<int64_t>()[i], at = 0;
      if (rest < 0 || rest >= count) {
        status = c.invalid("index {} is outside [0, {}]", rest, count - 1);
        return;
      }
      for (size_t d = out.size(); d-- > 0;) {
        at += rest % inferred[d] * strides[d];
        rest /= inferred[d];
      }
      y[at] = x.as<T>()[i];
    }
  });
  return status;
}

}  // namespace

std::vector<OpDef> ops_max_unpool() {
  return {{"",
           "MaxUnpool",
           9,
           kLastOpset,
           2,
           3,
           1,
           1,
           {"kernel_shape", "pads", "strides"},
           infer,
           reference}};
}

}  // namespace hasten
