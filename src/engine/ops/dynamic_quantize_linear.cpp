// https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html, opsets 11-21: f32 to u8 with the
// scale and zero point of its range. All zeros give the scale 1 and the zero point 0; see
// docs/numerics.md.
#include "engine/ops/op.h"
#include "engine/ops/quantization.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  HASTEN_CHECK(check_dtype(c, 0, dtypes({DType::kF32})));
  if (c.in(0).has_shape) {
    c.set(0, DType::kU8, c.in(0).shape);
  } else {
    c.set_unknown(0, DType::kU8);
  }
  c.set(1, DType::kF32, {});
  c.set(2, DType::kU8, {});
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  float low = 0, high = 0;
  for (int64_t i = 0; i < x.count(); ++i) {
    const float v = x.as<float>()[i];
    if (std::isnan(v)) low = high = v;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const DynamicRange range = dynamic_range(low, high);
  if (c.has_out(0)) {
    HASTEN_TRY(void* y, c.out(0, DType::kU8, x.dims));
    for (int64_t i = 0; i < x.count(); ++i) {
      static_cast<uint8_t*>(y)[i] = quantize_number<uint8_t, float>(
          x.as<float>()[i], range.scale, static_cast<uint8_t>(range.zero));
    }
  }
  if (c.has_out(1)) {
    HASTEN_TRY(void* scale, c.out(1, DType::kF32, {}));
    *static_cast<float*>(scale) = range.scale;
  }
  if (c.has_out(2)) {
    HASTEN_TRY(void* zero, c.out(2, DType::kU8, {}));
    *static_cast<uint8_t*>(zero) = static_cast<uint8_t>(range.zero);
  }
  return {};
}

Status lower(LowerContext& c) {
  if (c.in(0).layout != Layout::kPlain) {
    c.refuse("quantize_f32", "only plain layouts");
    return {};
  }
  const int64_t count = count_of(c.in_dims(0));
  const int64_t chunks = (count + kMinMaxChunk - 1) / kMinMaxChunk;
  c.scratch(static_cast<size_t>(chunks) * 2 * sizeof(float));
  c.flops(static_cast<double>(count) * 4);
  c.take("quantize_f32", [count, chunks, min_max = c.kernels().min_max_f32,
                          quantize = c.kernels().quantize_f32](const StepArgs& s) {
    auto* ends = reinterpret_cast<float*>(s.scratch);
    const MinMaxArgs m{s.input<float>(0), count, ends};
    s.parallel(chunks, 2, [&](int64_t begin, int64_t end) { min_max(&m, begin, end); });
    float low = 0, high = 0;
    for (int64_t i = 0; i < chunks; ++i) {
      if (std::isnan(ends[2 * i])) low = high = ends[2 * i];
      low = std::min(low, ends[2 * i]);
      high = std::max(high, ends[2 * i + 1]);
    }
    const DynamicRange range = dynamic_range(low, high);
    const auto zero = static_cast<uint8_t>(range.zero);
    if (s.out[1]) *s.output<float>(1) = range.scale;
    if (s.out[2]) *s.output<uint8_t>(2) = zero;
    if (s.out[0] == nullptr) return;
    QuantizeWalk walk;
    walk.inner = count;
    QuantizeArgs a = walk.args();
    a.x = s.in[0];
    a.y = s.out[0];
    a.scale = &range.scale;
    a.zero = &zero;
    a.dtype = static_cast<int>(DType::kU8);
    split_elements(s, count, kCheapGrain,
                   [&](int64_t begin, int64_t end) { quantize(&a, begin, end); });
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_dynamic_quantize_linear() {
  return {{"", "DynamicQuantizeLinear", 11, kLastOpset, 1, 1, 1, 3, {}, infer, reference, lower}};
}

}  // namespace hasten
