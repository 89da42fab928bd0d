#include "engine/ops/recurrent_plan.h"

#include <algorithm>

namespace hasten {

namespace {

/// Below this many floating-point operations a step in time is not worth splitting over threads.
constexpr double kSplitStepFlops = 400e3;

/// Everything a run needs, found once. Weights: RecurrentWeights or their quantized kin.
template <class Weights>
struct Plan {
  RecurrentKernels kernels;
  Weights weights;
  RecurrentDims dims;
  RecurrentArgs args{};
  int64_t gates, directions;
  bool batch_first;
  bool has_in[8], has_out[3];

  int64_t row() const { return dims.batch * dims.hidden; }  // the state of one direction
  int64_t state() const { return directions * row(); }
};

/// Between [directions][batch][hidden] and [batch][directions][hidden], if `swap`.
template <class P>
void copy_state(const P& p, const float* from, float* to, bool from_swapped, bool to_swapped) {
  const int64_t batch = p.dims.batch, n = p.dims.hidden;
  for (int64_t d = 0; d < p.directions; ++d) {
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t plain = d * batch + b, swapped = b * p.directions + d;
      std::copy_n(from + (from_swapped ? swapped : plain) * n, n,
                  to + (to_swapped ? swapped : plain) * n);
    }
  }
}

/// Steps of directions [first, last) in time; each split over the team or not.
template <class P>
void run_steps(const P& p, const StepArgs& s, RecurrentArgs& a, float* const (&h)[2], int64_t first,
               int64_t last, bool split) {
  const int64_t begin = first * a.blocks, end = last * a.blocks;
  for (a.step = 0; a.step < a.steps; ++a.step) {
    for (int64_t d = first; d < last; ++d) {
      a.direction[d].h_in = h[a.step % 2] + d * p.row();
      a.direction[d].h_out = h[(a.step + 1) % 2] + d * p.row();
    }
    for (const RecurrentKernels::Step phase : p.kernels.phases) {
      if (phase == nullptr) continue;
      if (split) {
        s.parallel(end - begin, 1,
                   [&](int64_t from, int64_t to) { phase(&a, begin + from, begin + to); });
      } else {
        phase(&a, begin, end);
      }
    }
  }
}

template <class P>
void run(const P& p, const StepArgs& s) {
  const auto ready = p.weights.run(s, s.scratch);
  const int64_t batch = p.dims.batch, hidden = p.dims.hidden, steps = p.dims.steps;
  auto* next = reinterpret_cast<float*>(s.scratch + p.weights.scratch_bytes());
  const auto take = [&](size_t input) {
    float* to = next;
    next += p.state();
    if (input < 8 && p.has_in[input]) {
      copy_state(p, s.input<float>(input), to, p.batch_first, false);
    } else {
      std::fill_n(to, p.state(), 0.0f);
    }
    return to;
  };
  constexpr size_t kNone = 8;
  float* const h[2] = {take(kInH), take(kNone)};
  float* const first_extra = take(p.kernels.cell ? size_t{kInC} : kNone);  // c, or z
  float* const second_extra = take(kNone);                                 // r h

  RecurrentArgs a = p.args;
  a.lengths = p.has_in[kInLengths] ? s.input<int32_t>(kInLengths) : nullptr;
  if (const int64_t bad = bad_length(a.lengths, batch, steps)) s.fault->store(bad);
  float* y = p.has_out[0] ? s.output<float>(0) : nullptr;
  if (a.lengths != nullptr && y != nullptr) std::fill_n(y, steps * p.state(), 0.0f);
  for (int64_t d = 0; d < p.directions; ++d) {
    RecurrentArgs::Direction& to = a.direction[d];
    ready.put(d, a);
    to.c = to.z = first_extra + d * p.row();
    to.rh = second_extra + d * p.row();
    to.y = y ? y + d * (p.batch_first ? hidden : p.row()) : nullptr;
    if (p.kernels.cell && p.has_in[kInP]) {
      to.peepholes = s.input<float>(kInP) + d * 3 * hidden;
    }
    if (p.kernels.merged < p.gates && p.has_in[kInB]) {
      to.hidden_bias = s.input<float>(kInB) + (d * 2 * p.gates + 2 * p.gates - 1) * hidden;
    }
  }
  const double step_flops =
      2.0 * static_cast<double>(p.gates * p.state()) * static_cast<double>(hidden);
  if (step_flops < kSplitStepFlops) {
    s.parallel(p.directions, 1, [&](int64_t begin, int64_t end) {
      RecurrentArgs mine = a;
      run_steps(p, s, mine, h, begin, end, false);
    });
  } else {
    run_steps(p, s, a, h, 0, p.directions, true);
  }
  float* last = h[steps % 2];
  for (int64_t b = 0; a.lengths != nullptr && b < batch; ++b) {
    for (int64_t d = 0; a.lengths[b] == 0 && d < p.directions; ++d) {
      std::fill_n(last + d * p.row() + b * hidden, hidden, 0.0f);
      std::fill_n(first_extra + d * p.row() + b * hidden, hidden, 0.0f);
    }
  }
  if (p.has_out[1]) copy_state(p, last, s.output<float>(1), false, p.batch_first);
  if (p.has_out[2]) copy_state(p, first_extra, s.output<float>(2), false, p.batch_first);
}

template <class Weights>
Status lower(LowerContext& c, const Recurrent& r, const RecurrentKernels& kernels,
             const RecurrentDims& dims) {
  if (c.in(kInX).dtype != DType::kF32) {
    c.refuse(kernels.name, fmt::format("dtype {}", dtype_name(c.in(kInX).dtype)));
    return {};
  }
  Plan<Weights> p{kernels, {}, dims, {}, r.gates, r.directions, r.batch_first, {}, {}};
  for (size_t i = 0; i < 8; ++i) p.has_in[i] = c.has_in(i);
  for (size_t i = 0; i < 3; ++i) p.has_out[i] = c.has_out(i);
  HASTEN_CHECK(p.weights.prepare(c, r, dims, kernels.merged));
  RecurrentArgs& a = p.args;
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
  a.coupled = kernels.coupled;
  for (int64_t d = 0; d < r.directions; ++d) {
    a.direction[d].reverse = r.reverse[d];
    std::copy_n(r.activations_of(d), r.activations.size() / static_cast<size_t>(r.directions),
                a.direction[d].activation);
  }
  c.scratch(p.weights.scratch_bytes() + static_cast<size_t>(4 * p.state()) * sizeof(float));
  c.flops(p.weights.flops());
  c.take(kernels.name, [p](const StepArgs& s) { run(p, s); });
  return {};
}

}  // namespace

Status lower_recurrent(LowerContext& c, const Recurrent& r, const RecurrentKernels& kernels) {
  const RecurrentDims dims(r, c.in_dims(kInX), c.in_dims(kInR));
  return lower<RecurrentWeights>(c, r, kernels, dims);
}

Status lower_quantized_recurrent(LowerContext& c, const Recurrent& r,
                                 const RecurrentKernels& kernels) {
  const Dims recurrence = c.in_dims(kInR);  // [directions][hidden][gates * hidden]
  const RecurrentDims dims(r, c.in_dims(kInX), {recurrence[0], recurrence[2], recurrence[1]});
  return lower<QuantizedRecurrentWeights>(c, r, kernels, dims);
}

}  // namespace hasten
