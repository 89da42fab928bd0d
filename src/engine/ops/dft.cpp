// https://onnx.ai/onnx/operators/onnx__DFT.html, opsets 17-19 (axis an attribute, 1) and 20-21
// (axis an input, -2), floats. With onesided and inverse (a real signal from half a spectrum) as
// opset 20's page has it.
#include <complex>
#include <optional>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/fourier.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

struct Kind {
  bool inverse, onesided;
  bool real_output() const { return inverse && onesided; }
};
Kind kind_of(const OpContext& c) {
  return {c.node().attr_int("inverse", 0) != 0, c.node().attr_int("onesided", 0) != 0};
}
bool axis_is_input(const OpContext& c) { return c.node().def->since >= 20; }

Result<size_t> axis_of(const OpContext& c, int64_t axis, size_t rank) {
  HASTEN_TRY(const size_t resolved, resolve_axis(c, axis, rank));
  if (resolved + 1 == rank) return c.invalid("axis {} is that of the complex parts", axis);
  return resolved;
}

int64_t default_length(const Kind& kind, int64_t dim) {
  return kind.real_output() ? 2 * (dim - 1) : dim;
}

Status check_input(const OpContext& c, const Shape& x, const Kind& kind) {
  if (x.size() < 2) return c.invalid("the input has rank {}, it must be at least 2", x.size());
  const Dim parts = x.back();
  if (!parts.known()) return {};
  if (parts.value() != 1 && parts.value() != 2) {
    return c.invalid("the last axis has {} elements, it must have 1 or 2", parts.value());
  }
  if (kind.onesided && (parts.value() == 2) != kind.inverse) {
    return c.invalid("onesided needs a {} input, this one has {} parts",
                     kind.inverse ? "complex" : "real", parts.value());
  }
  return {};
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  const Kind kind = kind_of(c);
  HASTEN_CHECK(check_dtype(c, 0, kFloats));
  HASTEN_TRY(std::optional<int64_t> length, known_scalar(c, 1, "dft_length"));
  if (length) HASTEN_CHECK(check_length(c, *length, "dft_length"));
  std::optional<int64_t> axis;
  if (!axis_is_input(c)) {
    axis = c.node().attr_int("axis", 1);
  } else if (!c.has_in(2)) {
    axis = -2;
  } else {
    HASTEN_CHECK(check_int_operand(c, c.in(2), "axis", false));
    HASTEN_TRY(axis, known_scalar(c, 2, "axis"));
  }
  c.set_unknown(0, x.dtype);
  if (!x.has_shape) return {};
  HASTEN_CHECK(check_input(c, x.shape, kind));
  Shape out = fresh_shape(x.rank());
  if (axis) {
    HASTEN_TRY(const size_t at, axis_of(c, *axis, x.rank()));
    out = x.shape;
    if (!length && !c.has_in(1) && x.shape[at].known()) {
      length = default_length(kind, x.shape[at].value());
      HASTEN_CHECK(check_length(c, *length, "the signal's length"));
    }
    if (length) {
      out[at] = Dim(kind.onesided && !kind.inverse ? *length / 2 + 1 : *length);
    } else if (c.has_in(1) || kind.onesided) {
      out[at] = Dim::fresh();
    }
  }
  out.back() = Dim(kind.real_output() ? 1 : 2);
  return set_checked(c, 0, x.dtype, std::move(out));
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  const Kind kind = kind_of(c);
  HASTEN_CHECK(check_input(c, to_shape(x.dims), kind));
  int64_t named = axis_is_input(c) ? -2 : c.node().attr_int("axis", 1);
  if (axis_is_input(c) && c.has_in(2)) named = read_ints(c.in(2)).front();
  HASTEN_TRY(const size_t axis, axis_of(c, named, x.dims.size()));
  const int64_t in = x.dims[axis], parts = x.dims.back();
  const int64_t length = c.has_in(1) ? read_ints(c.in(1)).front() : default_length(kind, in);
  HASTEN_CHECK(check_length(c, length, "dft_length"));
  const bool half = kind.onesided && !kind.inverse;
  Dims dims = x.dims;
  dims[axis] = half ? length / 2 + 1 : length;
  dims.back() = kind.real_output() ? 1 : 2;
  HASTEN_TRY(void* memory, c.out(0, x.dtype, dims));
  const std::span<const int64_t> all(x.dims);
  const int64_t outer = count_of(all.first(axis));
  const int64_t inner = count_of(all.subspan(axis + 1, all.size() - axis - 2));
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto at = [&](int64_t i) { return static_cast<double>(Compute<T>::load(x.as<T>()[i])); };
    Fourier fourier(length, kind.inverse);
    std::vector<std::complex<double>> row(static_cast<size_t>(length));
    for (int64_t o = 0; o < outer * inner; ++o) {
      std::fill(row.begin(), row.end(), 0.0);
      const int64_t wanted = kind.real_output() ? length / 2 + 1 : length;
      for (int64_t i = 0; i < std::min(in, wanted); ++i) {
        const int64_t from = ((o / inner * in + i) * inner + o % inner) * parts;
        row[static_cast<size_t>(i)] = {at(from), parts == 2 ? at(from + 1) : 0};
      }
      if (kind.real_output()) {
        // The other half of a real signal's spectrum.
        row[0] = row[0].real();
        if (length % 2 == 0)
          row[static_cast<size_t>(length / 2)] = row[static_cast<size_t>(length / 2)].real();
        for (int64_t i = length / 2 + 1; i < length; ++i) {
          row[static_cast<size_t>(i)] = std::conj(row[static_cast<size_t>(length - i)]);
        }
      }
      fourier.run(row);
      for (int64_t i = 0; i < dims[axis]; ++i) {
        T* to = static_cast<T*>(memory) +
                ((o / inner * dims[axis] + i) * inner + o % inner) * dims.back();
        to[0] = convert_number<T>(row[static_cast<size_t>(i)].real());
        if (dims.back() == 2) to[1] = convert_number<T>(row[static_cast<size_t>(i)].imag());
      }
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

}  // namespace

std::vector<OpDef> ops_dft() {
  return {{"", "DFT", 17, 19, 1, 2, 1, 1, {"axis", "inverse", "onesided"}, infer, reference},
          {"", "DFT", 20, kLastOpset, 1, 3, 1, 1, {"inverse", "onesided"}, infer, reference}};
}

}  // namespace hasten
