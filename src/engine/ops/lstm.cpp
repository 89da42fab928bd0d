// https://onnx.ai/onnx/operators/onnx__LSTM.html, opsets 7-21, floats.
#include <algorithm>

#include "engine/ops/op.h"
#include "engine/ops/recurrent_plan.h"

namespace hasten {

namespace {

constexpr int64_t kGates = 4;  // i o f c

Result<Recurrent> parse(const OpContext& c) {
  return Recurrent::parse(c, kGates, {"Sigmoid", "Tanh", "Tanh"});
}

Status infer(InferContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  return infer_recurrent(c, r, true);
}

Status reference(RefContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  return reference_lstm(c, r, [](const double* h) { return h; });
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  const bool coupled = c.node().attr_int("input_forget", 0) != 0;
  return lower_recurrent(
      c, r, {"lstm_step_f32", {c.kernels().lstm_step_f32, nullptr}, kGates, true, coupled});
}

}  // namespace

Status reference_lstm(RefContext& c, const Recurrent& r,
                      const std::function<const double*(const double*)>& recurrent_input) {
  const bool coupled = c.node().attr_int("input_forget", 0) != 0;
  const std::vector<double> peepholes = doubles_of(c.in(kInP));
  return reference_recurrent(c, r, true, [&](const RecurrentStep& s) {
    const Activation* act = r.activations_of(s.direction);
    const int64_t n = s.hidden;
    const double* h = recurrent_input(s.h);
    const auto gate = [&](int64_t g, int64_t unit, int64_t peephole, double c_value) {
      const int64_t row = g * n + unit;
      double z = s.x[row] + s.product(row, h) + s.bias[row];
      if (!peepholes.empty() && peephole >= 0) {
        z += peepholes[static_cast<size_t>((s.direction * 3 + peephole) * n + unit)] * c_value;
      }
      return std::clamp(z, -double{r.clip}, double{r.clip});
    };
    for (int64_t unit = 0; unit < n; ++unit) {
      const double old = s.c[unit];
      const double i = apply_activation(act[0], gate(0, unit, 0, old));
      const double f = coupled ? 1 - i : apply_activation(act[0], gate(2, unit, 2, old));
      const double cell = apply_activation(act[1], gate(3, unit, -1, 0));
      s.c[unit] = f * old + i * cell;
      const double o = apply_activation(act[0], gate(1, unit, 1, s.c[unit]));
      s.h_next[unit] = o * apply_activation(act[2], s.c[unit]);
    }
  });
}

std::vector<OpDef> ops_lstm() {
  const std::vector<const char*> attrs = {
      "activation_alpha", "activation_beta", "activations", "clip",
      "direction",        "hidden_size",     "input_forget"};
  std::vector<const char*> now = attrs;
  now.push_back("layout");
  return {{"", "LSTM", 7, 13, 3, 8, 0, 3, attrs, infer, reference, lower},
          {"", "LSTM", 14, kLastOpset, 3, 8, 0, 3, now, infer, reference, lower}};
}

}  // namespace hasten
