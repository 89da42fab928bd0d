// hasten.Silu, made by passes: x * sigmoid(x). Floats.
#include <algorithm>
#include <cmath>

#include "engine/ops/elementwise.h"

namespace hasten {

namespace {

Status infer(InferContext& c) { return infer_unary(c, kFloats); }

Status reference(RefContext& c) {
  return reference_float_unary(c, [](double x) { return x * (1 / (1 + std::exp(-x))); });
}

/// By the kernels of Sigmoid and Mul, a piece that stays in L1 at a time: mostly a product or a
/// convolution takes this over, and a kernel of its own would gain nothing.
Status lower(LowerContext& c) {
  const char* name = "silu_f32";
  const Facts &x = c.in(0), &out = c.out(0);
  if (x.dtype != DType::kF32 || x.layout != out.layout) {
    c.refuse(name, fmt::format("{} {} to {}", dtype_name(x.dtype), layout_name(x.layout),
                               layout_name(out.layout)));
    return {};
  }
  const int64_t count = storage_count(c.out_dims(0), out.layout);
  c.flops(static_cast<double>(count) * 20);
  c.in_place({0});
  c.take(name,
         [count, sigmoid = c.kernels().sigmoid_f32, mul = c.kernels().mul_f32](const StepArgs& s) {
           split_elements(s, count, kCostlyGrain, [&](int64_t begin, int64_t end) {
             constexpr int64_t kPiece = 1024;
             alignas(64) float gate[kPiece];
             for (int64_t i = begin; i < end; i += kPiece) {
               const int64_t n = std::min(kPiece, end - i);
               const float* from = s.input<float>(0) + i;
               const UnaryArgs gates{from, gate, 0, 0};
               sigmoid(&gates, 0, n);
               BroadcastArgs product{};
               product.in[0] = from;
               product.in[1] = gate;
               product.out = s.output<float>(0) + i;
               product.n = n;
               product.step[0] = product.step[1] = 1;
               mul(&product, 0, n);
             }
           });
         });
  return {};
}

}  // namespace

std::vector<OpDef> ops_silu() {
  return unary_ops({{"hasten", "Silu", 1, kLastOpset, 1, 1, 1, 1, {}, infer, reference, lower}});
}

}  // namespace hasten
