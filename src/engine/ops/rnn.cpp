// https://onnx.ai/onnx/operators/onnx__RNN.html, opsets 7-21, floats.
#include <algorithm>

#include "engine/ops/op.h"
#include "engine/ops/recurrent_plan.h"

namespace hasten {

namespace {

Result<Recurrent> parse(const OpContext& c) { return Recurrent::parse(c, 1, {"Tanh"}); }

Status infer(InferContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  return infer_recurrent(c, r, false);
}

Status reference(RefContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  return reference_recurrent(c, r, false, [&](const RecurrentStep& s) {
    const Activation& f = *r.activations_of(s.direction);
    for (int64_t unit = 0; unit < s.hidden; ++unit) {
      const double sum = s.x[unit] + s.product(unit, s.h) + s.bias[unit];
      s.h_next[unit] = apply_activation(f, std::clamp(sum, -double{r.clip}, double{r.clip}));
    }
  });
}

Status lower(LowerContext& c) {
  HASTEN_TRY(const Recurrent r, parse(c));
  return lower_recurrent(c, r,
                         {"rnn_step_f32", {c.kernels().rnn_step_f32, nullptr}, 1, false, false});
}

}  // namespace

std::vector<OpDef> ops_rnn() {
  const std::vector<const char*> attrs = {
      "activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size"};
  std::vector<const char*> now = attrs;
  now.push_back("layout");
  return {{"", "RNN", 7, 13, 3, 6, 0, 2, attrs, infer, reference, lower},
          {"", "RNN", 14, kLastOpset, 3, 6, 0, 2, now, infer, reference, lower}};
}

}  // namespace hasten
