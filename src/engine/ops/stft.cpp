// https://onnx.ai/onnx/operators/onnx__STFT.html, opsets 17-21, floats. Without window and
// frame_length a frame is the whole signal.
#include <complex>
#include <optional>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/fourier.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

constexpr const char* kStep = "frame_step";
constexpr const char* kLength = "frame_length";

bool is_onesided(const OpContext& c) { return c.node().attr_int("onesided", 1) != 0; }

Status check_frames(const OpContext& c, int64_t signal, int64_t length, int64_t step) {
  HASTEN_CHECK(check_length(c, length, kLength));
  if (step < 1) return c.invalid("{} is {}, it must be at least 1", kStep, step);
  if (length > signal) {
    return c.invalid("{} is {}, the signal has {} samples", kLength, length, signal);
  }
  return {};
}

Status check_signal(const OpContext& c, const Shape& signal) {
  if (signal.size() != 3) return c.invalid("the signal has rank {}, it must be 3", signal.size());
  const Dim parts = signal[2];
  if (!parts.known()) return {};
  if (parts.value() != 1 && parts.value() != 2) {
    return c.invalid("the last axis has {} elements, it must have 1 or 2", parts.value());
  }
  if (is_onesided(c) && parts.value() == 2) return c.invalid("onesided needs a real signal");
  return {};
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &window = c.in(2);
  HASTEN_CHECK(check_dtype(c, 0, kFloats));
  if (c.has_in(2) && window.dtype != DType::kNone && x.dtype != DType::kNone &&
      window.dtype != x.dtype) {
    return c.invalid("window has dtype {}, signal has {}", dtype_name(window.dtype),
                     dtype_name(x.dtype));
  }
  if (x.has_shape) HASTEN_CHECK(check_signal(c, x.shape));
  HASTEN_TRY(const std::optional<int64_t> step, known_scalar(c, 1, kStep));
  HASTEN_TRY(std::optional<int64_t> length, known_scalar(c, 3, kLength));
  if (window.has_shape) {
    if (window.rank() != 1) return c.invalid("window is {}, it must be 1-D", window.text());
    const Dim n = window.shape[0];
    if (length && n.known() && n.value() != *length) {
      return c.invalid("window has {} elements, {} is {}", n.value(), kLength, *length);
    }
    if (n.known()) length = n.value();
  }
  Shape out = fresh_shape(4);
  if (x.has_shape) out[0] = x.shape[0];
  out[3] = Dim(2);
  if (!c.has_in(2) && !c.has_in(3) && x.has_shape && x.shape[1].known()) {
    length = x.shape[1].value();
  }
  if (length) {
    HASTEN_CHECK(check_length(c, *length, kLength));
    out[2] = Dim(is_onesided(c) ? *length / 2 + 1 : *length);
    if (step && x.has_shape && x.shape[1].known()) {
      HASTEN_CHECK(check_frames(c, x.shape[1].value(), *length, *step));
      out[1] = Dim((x.shape[1].value() - *length) / *step + 1);
    }
  }
  return set_checked(c, 0, x.dtype, std::move(out));
}

Status reference(RefContext& c) {
  const TensorView &x = c.in(0), &window = c.in(2);
  HASTEN_CHECK(check_signal(c, to_shape(x.dims)));
  const int64_t signal = x.dims[1], parts = x.dims[2], step = read_ints(c.in(1)).front();
  int64_t length = signal;
  if (c.has_in(3)) length = read_ints(c.in(3)).front();
  if (c.has_in(2)) {
    if (c.has_in(3) && window.count() != length) {
      return c.invalid("window has {} elements, {} is {}", window.count(), kLength, length);
    }
    length = window.count();
  }
  HASTEN_CHECK(check_frames(c, signal, length, step));
  const int64_t frames = (signal - length) / step + 1;
  const int64_t bins = is_onesided(c) ? length / 2 + 1 : length;
  HASTEN_TRY(void* memory, c.out(0, x.dtype, {x.dims[0], frames, bins, 2}));
  const bool known = dispatch_float(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto at = [](const TensorView& t, int64_t i) {
      return static_cast<double>(Compute<T>::load(t.as<T>()[i]));
    };
    Fourier fourier(length, false);
    std::vector<std::complex<double>> row(static_cast<size_t>(length));
    T* out = static_cast<T*>(memory);
    for (int64_t frame = 0; frame < x.dims[0] * frames; ++frame) {
      const int64_t first = frame / frames * signal + frame % frames * step;
      for (int64_t i = 0; i < length; ++i) {
        const int64_t from = (first + i) * parts;
        const double weight = c.has_in(2) ? at(window, i) : 1;
        row[static_cast<size_t>(i)] = {at(x, from) * weight,
                                       parts == 2 ? at(x, from + 1) * weight : 0};
      }
      fourier.run(row);
      for (int64_t i = 0; i < bins; ++i) {
        *out++ = convert_number<T>(row[static_cast<size_t>(i)].real());
        *out++ = convert_number<T>(row[static_cast<size_t>(i)].imag());
      }
    }
  });
  if (!known) return c.unsupported("dtype {}", dtype_name(x.dtype));
  return {};
}

}  // namespace

std::vector<OpDef> ops_stft() {
  return {{"", "STFT", 17, kLastOpset, 2, 4, 1, 1, {"onesided"}, infer, reference}};
}

}  // namespace hasten
