// com.microsoft.DynamicQuantizeLSTM, version 1, of ONNX Runtime
// (https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md): LSTM on f32 whose
// W [directions, input, 4 hidden] and R [directions, hidden, 4 hidden] are u8 or i8 with a scale
// and zero point a direction or a column; X and H are quantized as they come: a sequence of X and a
// row of H by its own range, so that they do not depend on the rest of their batch:
// docs/numerics.md.
#include <algorithm>

#include "engine/ops/op.h"
#include "engine/ops/recurrent_plan.h"

namespace hasten {

namespace {

constexpr int64_t kGates = 4;  // i o f c

Result<Recurrent> parse(const OpContext& c) {
  return Recurrent::parse(c, kGates, {"Sigmoid", "Tanh", "Tanh"});
}

/// [directions], or [directions, 4 hidden] where the weight's columns have one each.
Status check_numbers(const InferContext& c, size_t i, const char* name, const Facts& weight,
                     DType dtype) {
  const Facts& f = c.in(i);
  if (f.dtype != DType::kNone && dtype != DType::kNone && f.dtype != dtype) {
    return c.invalid("{} has dtype {}, it must be {}", name, dtype_name(f.dtype),
                     dtype_name(dtype));
  }
  if (!f.has_shape || !weight.has_shape || weight.rank() != 3) return {};
  bool fits = f.rank() == 1 || f.rank() == 2;
  for (size_t d = 0; fits && d < f.rank(); ++d) {
    const Dim want = weight.shape[d == 0 ? 0 : 2];
    fits = !f.shape[d].known() || !want.known() || f.shape[d] == want;
  }
  if (fits) return {};
  return c.invalid("{} is {}: one number a direction or a column of {} is needed", name, f.text(),
                   weight.text());
}

Status infer(InferContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  for (size_t i = kInWScale; i <= kInRZero; ++i) {
    if (!c.has_in(i)) return c.invalid("input {} is required, but absent", i);
  }
  HASTEN_CHECK(check_dtype(c, kInX, dtypes({DType::kF32})));
  HASTEN_CHECK(check_dtype(c, kInW, kBytes));
  HASTEN_CHECK(check_dtype(c, kInR, kBytes));
  HASTEN_CHECK(check_numbers(c, kInWScale, "W's scale", c.in(kInW), DType::kF32));
  HASTEN_CHECK(check_numbers(c, kInWZero, "W's zero point", c.in(kInW), c.in(kInW).dtype));
  HASTEN_CHECK(check_numbers(c, kInRScale, "R's scale", c.in(kInR), DType::kF32));
  HASTEN_CHECK(check_numbers(c, kInRZero, "R's zero point", c.in(kInR), c.in(kInR).dtype));
  // The rest is that of LSTM with W and R turned and dequantized.
  Facts turned[2] = {c.in(kInW), c.in(kInR)};
  std::vector<const Facts*> in;
  for (size_t i = 0; i < 8; ++i) in.push_back(&c.in(i));
  for (Facts& f : turned) {
    f.dtype = DType::kF32;
    f.value = Tensor();
    if (!f.has_shape) continue;
    if (f.rank() != 3) return c.invalid("a weight is {}, it must have 3 dimensions", f.text());
    std::swap(f.shape[1], f.shape[2]);
  }
  in[kInW] = &turned[0];
  in[kInR] = &turned[1];
  Facts out[3];
  InferContext plain(c.node(), in, std::span(out, c.outputs()));
  HASTEN_CHECK(infer_recurrent(plain, r, true));
  for (size_t i = 0; i < c.outputs(); ++i) c.out(i) = out[i];
  return {};
}

/// [directions][k][n] dequantized and turned.
Tensor dequantized(const TensorView& w, const TensorView& scale, const TensorView& zero) {
  const int64_t directions = w.dims[0], k = w.dims[1], n = w.dims[2];
  Tensor out = *Tensor::make(DType::kF32, {directions, n, k});
  const bool is_signed = w.dtype == DType::kI8;
  for (int64_t d = 0; d < directions; ++d) {
    for (int64_t i = 0; i < k * n; ++i) {
      const int64_t row = i / n, column = i % n;
      const int32_t z = byte_at(zero.data, is_signed, zero.dims.size() > 1 ? d * n + column : d);
      const float s = scale.as<float>()[scale.dims.size() > 1 ? d * n + column : d];
      out.mutable_as<float>()[(d * n + column) * k + row] =
          static_cast<float>(byte_at(w.data, is_signed, d * k * n + i) - z) * s;
    }
  }
  return out;
}

/// The range of n numbers and of what was seen before.
template <class T>
void widen(const T* x, int64_t n, float& low, float& high) {
  for (int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<float>(x[i]);
    if (std::isnan(v)) low = high = v;
    low = std::min(low, v);
    high = std::max(high, v);
  }
}

/// n numbers quantized and dequantized.
template <class T>
void round_row(const DynamicRange& range, const T* x, int64_t n, T* out) {
  for (int64_t i = 0; i < n; ++i) {
    const int32_t q = quantize_number<uint8_t, float>(static_cast<float>(x[i]), range.scale,
                                                      static_cast<uint8_t>(range.zero));
    out[i] = static_cast<T>(static_cast<float>(q - range.zero)) * static_cast<T>(range.scale);
  }
}

/// [steps][batch][input], each sequence by the range of its steps within its length.
Tensor rounded_sequences(const TensorView& x, const TensorView& lengths) {
  Tensor out = *Tensor::make(DType::kF32, x.dims);
  const int64_t steps = x.dims[0], batch = x.dims[1], input = x.dims[2];
  for (int64_t b = 0; b < batch; ++b) {
    const auto row = [&](int64_t t) { return (t * batch + b) * input; };
    const int64_t length = lengths.data == nullptr ? steps : lengths.as<int32_t>()[b];
    float low = 0, high = 0;
    for (int64_t t = 0; t < std::min(length, steps); ++t)
      widen(x.as<float>() + row(t), input, low, high);
    const DynamicRange range = dynamic_range(low, high);
    for (int64_t t = 0; t < steps; ++t)
      round_row(range, x.as<float>() + row(t), input, out.mutable_as<float>() + row(t));
  }
  return out;
}

Status reference(RefContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  const Tensor w = dequantized(c.in(kInW), c.in(kInWScale), c.in(kInWZero));
  const Tensor recurrence = dequantized(c.in(kInR), c.in(kInRScale), c.in(kInRZero));
  const Tensor x = rounded_sequences(c.in(kInX), c.in(kInLengths));
  std::vector<TensorView> in;
  for (size_t i = 0; i < 8; ++i) in.push_back(c.in(i));
  in[kInX] = x.view();
  in[kInW] = w.view();
  in[kInR] = recurrence.view();
  RefContext plain(c.node(), in,
                   [&](size_t i, DType dtype, const Dims& dims) { return c.out(i, dtype, dims); });
  std::vector<double> h(static_cast<size_t>(recurrence.dims()[2]));
  return reference_lstm(plain, r, [&](const double* state) {
    const auto n = static_cast<int64_t>(h.size());
    float low = 0, high = 0;
    widen(state, n, low, high);
    round_row(dynamic_range(low, high), state, n, h.data());
    return h.data();
  });
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  const bool coupled = c.node().attr_int("input_forget", 0) != 0;
  return lower_quantized_recurrent(c, r,
                                   {"lstm_step_s8",
                                    {c.kernels().quantize_state_f32, c.kernels().lstm_step_s8},
                                    kGates,
                                    true,
                                    coupled});
}

}  // namespace

std::vector<OpDef> ops_dynamic_quantize_lstm() {
  return {{"com.microsoft",
           "DynamicQuantizeLSTM",
           1,
           1,
           3,
           12,
           0,
           3,
           {"activation_alpha", "activation_beta", "activations", "clip", "direction",
            "hidden_size", "input_forget"},
           infer,
           reference,
           lower}};
}

}  // namespace hasten
