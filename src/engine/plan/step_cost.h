// When a step is worth sharing between threads.
#pragma once

#include <algorithm>

#include "engine/plan/step_info.h"

namespace hasten {

/// One thread's time for a step in nanoseconds at rates that kernels reach on operands in a cache:
/// right within a factor of two, for steps that are short.
inline double step_ns(const StepInfo& info) {
  constexpr double kFlopsPerNs = 100, kBytesPerNs = 80;
  return info.flops / kFlopsPerNs + info.bytes / kBytesPerNs;
}

/// How far (ThreadPool::distance_ns) a second thread may be to pay for a step of so many
/// nanoseconds a job. It halves them, but calling it and waiting for it takes about four distances,
/// and half of the activations that a step reads were written by the other core: per byte of them
/// some 3e-4 distances. Beyond a quarter megabyte they no longer lie in that core's own cache, and
/// come in streams.
inline double worth_sharing_within_ns(double job_ns, double activation_bytes) {
  return job_ns / (8 + 6e-4 * std::min(activation_bytes, 256e3));
}

/// Jobs that a step hands out one after another: a recurrent operator some for each step in time,
/// if it goes in one direction only (two are one thread's each). `steps`: of the first input.
inline double jobs_of(std::string_view op, bool two_directions, double steps) {
  for (const char* recurrent : {"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"}) {
    if (op == recurrent && !two_directions) return std::max(1.0, 2 * steps);
  }
  return 1;
}

/// What is close on any machine: what isn't worth sharing there never is.
constexpr double kCloseNs = 50;

/// What loops may take.
constexpr double kUnknownNs = 1e9;

}  // namespace hasten
