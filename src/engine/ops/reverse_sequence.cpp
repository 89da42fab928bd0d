// https://onnx.ai/onnx/operators/onnx__ReverseSequence.html, opsets 10-21, every dtype.
#include "engine/ops/moves.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

struct Axes {
  size_t batch, time;
};

Result<Axes> axes_of(const OpContext& c) {
  const int64_t batch = c.node().attr_int("batch_axis", 1);
  const int64_t time = c.node().attr_int("time_axis", 0);
  if (batch < 0 || batch > 1 || time < 0 || time > 1 || batch == time) {
    return c.invalid("batch_axis {} and time_axis {} must be 0 and 1 or 1 and 0", batch, time);
  }
  return Axes{static_cast<size_t>(batch), static_cast<size_t>(time)};
}

Status check_length(const OpContext& c, int64_t length, int64_t time) {
  if (length < 0 || length > time) {
    return c.invalid("sequence length {} is outside [0, {}]", length, time);
  }
  return {};
}

Status infer(InferContext& c) {
  const Facts &x = c.in(0), &lengths = c.in(1);
  HASTEN_TRY(const Axes axes, axes_of(c));
  HASTEN_CHECK(check_int_list(c, lengths, "sequence_lens", false));
  if (!x.has_shape) {
    c.set_unknown(0, x.dtype);
    return {};
  }
  if (x.rank() < 2) return c.invalid("the input has rank {}, it must be at least 2", x.rank());
  const Dim batch = x.shape[axes.batch];
  if (const auto n = list_length(lengths); n && batch.known() && *n != batch.value()) {
    return c.invalid("{} sequence lengths for a batch of {}", *n, batch.value());
  }
  c.set(0, x.dtype, x.shape);
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const Axes axes, axes_of(c));
  const int64_t* lengths = c.in(1).as<int64_t>();
  for (int64_t b = 0; b < x.dims[axes.batch]; ++b) {
    HASTEN_CHECK(check_length(c, lengths[b], x.dims[axes.time]));
  }
  HASTEN_TRY(void* memory, c.out(0, x.dtype, x.dims));
  const int64_t first = x.dims[0], second = x.dims[1];
  const int64_t inner = count_of(std::span(x.dims).subspan(2));
  dispatch_bits(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < first * second; ++i) {
      int64_t at[] = {i / second, i % second};
      const int64_t length = lengths[at[axes.batch]];
      int64_t& time = at[axes.time];
      if (time < length) time = length - 1 - time;
      for (int64_t k = 0; k < inner; ++k) {
        static_cast<T*>(memory)[i * inner + k] = x.as<T>()[(at[0] * second + at[1]) * inner + k];
      }
    }
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_reverse_sequence() {
  return {{"",
           "ReverseSequence",
           10,
           kLastOpset,
           2,
           2,
           1,
           1,
           {"batch_axis", "time_axis"},
           infer,
           reference}};
}

}  // namespace hasten
