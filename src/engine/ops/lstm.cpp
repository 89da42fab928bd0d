// https://onnx.ai/onnx/operators/onnx__LSTM.html, opsets 7-21, floats.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/ops/recurrent_weights.h"
#include "engine/ops/table.h"

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
  const bool coupled = c.node().attr_int("input_forget", 0) != 0;
  const std::vector<double> peepholes = doubles_of(c.in(kInP));
  return reference_recurrent(c, r, true, [&](const RecurrentStep& s) {
    const RecurrentActivation* act = r.activations_of(s.direction);
    const int64_t n = s.hidden;
    const auto gate = [&](int64_t g, int64_t unit, int64_t peephole, double c_value) {
      const int64_t row = g * n + unit;
      double z = s.x[row] + s.product(row, s.h) + s.bias[row];
      if (!peepholes.empty() && peephole >= 0) {
        z += peepholes[static_cast<size_t>((s.direction * 3 + peephole) * n + unit)] * c_value;
      }
      return std::clamp(z, -double{r.clip}, double{r.clip});
    };
    for (int64_t unit = 0; unit < n; ++unit) {
      const double old = s.c[unit];
      const double i = act[0](gate(0, unit, 0, old));
      const double f = coupled ? 1 - i : act[0](gate(2, unit, 2, old));
      const double cell = act[1](gate(3, unit, -1, 0));
      s.c[unit] = f * old + i * cell;
      const double o = act[0](gate(1, unit, 1, s.c[unit]));
      s.h_next[unit] = o * act[2](s.c[unit]);
    }
  });
}

/// Everything the step needs, found once.
struct Plan {
  RecurrentWeights weights;
  LstmArgs args{};
  RecurrentDims dims;
  int64_t directions;
  bool reverse[2];
  bool batch_first;
  const KernelTable* kernels;
  size_t weights_bytes;
  bool has_in[8], has_out[3];

  int64_t state_size() const { return directions * dims.batch * dims.hidden; }
};

/// Below this many floating-point operations a step of time is not worth splitting over threads.
constexpr double kSplitStepFlops = 400e3;

/// Copies between [directions][batch] and [batch][directions] rows; the same both ways.
void copy_state(const Plan& p, const float* from, float* to, bool from_batch_first,
                bool to_batch_first) {
  const int64_t batch = p.dims.batch, n = p.dims.hidden;
  for (int64_t d = 0; d < p.directions; ++d) {
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t plain = d * batch + b, other = b * p.directions + d;
      std::copy_n(from + (from_batch_first ? other : plain) * n, n,
                  to + (to_batch_first ? other : plain) * n);
    }
  }
}

void run(const Plan& p, const StepArgs& s) {
  const RecurrentWeights::Ready ready = p.weights.run(s, s.scratch);
  const int64_t batch = p.dims.batch, hidden = p.dims.hidden, steps = p.dims.steps;
  const int64_t size = p.state_size(), row = batch * hidden;
  auto* state = reinterpret_cast<float*>(s.scratch + p.weights_bytes);
  float *h[2] = {state, state + size}, *c = state + 2 * size;
  const auto start = [&](size_t input, float* to) {
    if (p.has_in[input]) {
      copy_state(p, s.input<float>(input), to, p.batch_first, false);
    } else {
      std::fill_n(to, size, 0.0f);
    }
  };
  start(kInH, h[0]);
  start(kInC, c);
  const auto* lengths = p.has_in[kInLengths] ? s.input<int32_t>(kInLengths) : nullptr;
  if (const int64_t bad = bad_length(lengths, batch, steps)) s.fault->store(bad);
  float* y = p.has_out[0] ? s.output<float>(0) : nullptr;
  if (lengths != nullptr && y != nullptr) std::fill_n(y, steps * size, 0.0f);

  LstmArgs a = p.args;
  a.lengths = lengths;
  for (int64_t d = 0; d < p.directions; ++d) {
    LstmArgs::Direction& to = a.direction[d];
    to.xw = ready.xw[d];
    to.r = ready.r[d];
    to.c = c + d * row;
    to.y = y ? y + d * (p.batch_first ? hidden : row) : nullptr;
    to.peepholes = p.has_in[kInP] ? s.input<float>(kInP) + d * 3 * hidden : nullptr;
  }
  const int64_t blocks = a.blocks;
  const double step_flops = 8.0 * static_cast<double>(row) * static_cast<double>(hidden);
  const auto steps_of = [&](LstmArgs& mine, int64_t first, int64_t last, bool split) {
    for (int64_t t = 0; t < steps; ++t) {
      mine.step = t;
      for (int64_t d = first; d < last; ++d) {
        mine.direction[d].h_in = h[t % 2] + d * row;
        mine.direction[d].h_out = h[(t + 1) % 2] + d * row;
      }
      if (split) {
        s.parallel((last - first) * blocks, 1, [&](int64_t begin, int64_t end) {
          p.kernels->lstm_step_f32(&mine, first * blocks + begin, first * blocks + end);
        });
      } else {
        p.kernels->lstm_step_f32(&mine, first * blocks, last * blocks);
      }
    }
  };
  if (step_flops * static_cast<double>(p.directions) < kSplitStepFlops) {
    s.parallel(p.directions, 1, [&](int64_t begin, int64_t end) {
      LstmArgs mine = a;
      steps_of(mine, begin, end, false);
    });
  } else {
    steps_of(a, 0, p.directions, true);
  }
  float* last = h[steps % 2];
  for (int64_t b = 0; lengths != nullptr && b < batch; ++b) {
    for (int64_t d = 0; lengths[b] == 0 && d < p.directions; ++d) {
      std::fill_n(last + d * row + b * hidden, hidden, 0.0f);
      std::fill_n(c + d * row + b * hidden, hidden, 0.0f);
    }
  }
  if (p.has_out[1]) copy_state(p, last, s.output<float>(1), false, p.batch_first);
  if (p.has_out[2]) copy_state(p, c, s.output<float>(2), false, p.batch_first);
}

Status lower(LowerContext& c) {
  if (c.in(kInX).dtype != DType::kF32) {
    c.refuse("lstm_step_f32", fmt::format("dtype {}", dtype_name(c.in(kInX).dtype)));
    return {};
  }
  HASTEN_TRY(const Recurrent r, parse(c));
  const RecurrentDims dims(r, c.in_dims(kInX), c.in_dims(kInR));
  Plan p{{}, {}, dims, r.directions, {r.reverse[0], r.reverse[1]}, r.batch_first, &c.kernels(),
         0,  {}, {}};
  for (size_t i = 0; i < 8; ++i) p.has_in[i] = c.has_in(i);
  for (size_t i = 0; i < 3; ++i) p.has_out[i] = c.has_out(i);
  HASTEN_CHECK(p.weights.prepare(c, r, dims, kGates));
  LstmArgs& a = p.args;
  a.batch = dims.batch;
  a.hidden = dims.hidden;
  a.blocks = p.weights.blocks();
  a.steps = dims.steps;
  const int64_t columns = p.weights.columns();
  a.xw_t = r.batch_first ? columns : dims.batch * columns;
  a.xw_b = r.batch_first ? dims.steps * columns : columns;
  a.y_t = r.directions * dims.hidden * (r.batch_first ? 1 : dims.batch);
  a.y_b = dims.hidden * (r.batch_first ? dims.steps * r.directions : 1);
  a.clip = r.clip;
  a.coupled = c.node().attr_int("input_forget", 0) != 0;
  for (int64_t d = 0; d < r.directions; ++d) {
    a.direction[d].reverse = r.reverse[d];
    for (int i = 0; i < 3; ++i) {
      const RecurrentActivation& act = r.activations_of(d)[i];
      a.direction[d].activation[i] = {act.kind, act.alpha, act.beta};
    }
  }
  p.weights_bytes = (p.weights.scratch_bytes() + 63) / 64 * 64;
  c.scratch(p.weights_bytes + static_cast<size_t>(3 * p.state_size()) * sizeof(float));
  c.flops(p.weights.flops());
  c.take("lstm_step_f32", [p](const StepArgs& s) { run(p, s); });
  return {};
}

}  // namespace

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
