// https://onnx.ai/onnx/operators/onnx__GRU.html, opsets 7-21, floats.
#include <algorithm>

#include "engine/ops/op.h"
#include "engine/ops/recurrent_plan.h"

namespace hasten {

namespace {

constexpr int64_t kGates = 3;  // z r h

Result<Recurrent> parse(const OpContext& c) {
  return Recurrent::parse(c, kGates, {"Sigmoid", "Tanh"});
}
bool linear_before_reset(const OpContext& c) {
  return c.node().attr_int("linear_before_reset", 0) != 0;
}

Status infer(InferContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  return infer_recurrent(c, r, false);
}

Status reference(RefContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  const bool linear_first = linear_before_reset(c);
  return reference_recurrent(c, r, false, [&](const RecurrentStep& s) {
    const Activation* act = r.activations_of(s.direction);
    const int64_t n = s.hidden;
    const auto clipped = [&](double z) { return std::clamp(z, -double{r.clip}, double{r.clip}); };
    const auto gate = [&](int64_t row) {
      return apply_activation(act[0], clipped(s.x[row] + s.product(row, s.h) + s.bias[row]));
    };
    std::vector<double> reset(static_cast<size_t>(n)), reset_h(static_cast<size_t>(n));
    for (int64_t unit = 0; unit < n; ++unit) {
      const auto i = static_cast<size_t>(unit);
      reset[i] = gate(n + unit);
      reset_h[i] = reset[i] * s.h[unit];
    }
    for (int64_t unit = 0; unit < n; ++unit) {
      const int64_t row = 2 * n + unit;
      const double sum = linear_first ? s.x[row] + reset[static_cast<size_t>(unit)] *
                                                       (s.product(row, s.h) + s.bias[row])
                                      : s.x[row] + s.product(row, reset_h.data()) + s.bias[row];
      const double z = gate(unit);
      s.h_next[unit] = (1 - z) * apply_activation(act[1], clipped(sum)) + z * s.h[unit];
    }
  });
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  const KernelTable& k = c.kernels();
  if (linear_before_reset(c)) {
    return lower_recurrent(c, r, {"gru_step_f32", {k.gru_step_f32, nullptr}, 2, false, false});
  }
  return lower_recurrent(
      c, r, {"gru_gates_f32", {k.gru_gates_f32, k.gru_hidden_f32}, kGates, false, false});
}

}  // namespace

std::vector<OpDef> ops_gru() {
  const std::vector<const char*> attrs = {
      "activation_alpha", "activation_beta", "activations",        "clip",
      "direction",        "hidden_size",     "linear_before_reset"};
  std::vector<const char*> now = attrs;
  now.push_back("layout");
  return {{"", "GRU", 7, 13, 3, 6, 0, 2, attrs, infer, reference, lower},
          {"", "GRU", 14, kLastOpset, 3, 6, 0, 2, now, infer, reference, lower}};
}

}  // namespace hasten
