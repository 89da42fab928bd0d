// When a step is worth sharing between threads.
#pragma once

#include <algorithm>

#include "engine/plan/step_info.h"

namespace hasten {

/// One thread's time for a step in nanoseconds at rates that kernels reach on operands in a cache:
/// right within a factor of two, for steps that are short.
inline double step_ns(const StepInfo& info) {
  constexpr double kFlopsPerNs = 100, kBytesPerNs = 110;
  // Winograd's products are a convolution's in a fraction of the operations.
  const double saved = info.kernel.find("winograd") == std::string::npos ? 1 : 2.25;
  return info.flops / saved / kFlopsPerNs + info.bytes / kBytesPerNs;
}

/// How far (ThreadPool::distance_ns) a second thread may be to pay for a step of so many
/// nanoseconds a job. It halves them, but calling it and waiting for it takes about four distances;
/// half of the activations were written by the other core, and what it reads has to be taken back
/// from it before it can be written again: the first lines cost most, those beyond a quarter
/// megabyte no longer lie in the other core's own cache. Fitted to steps of small models, each on
/// one thread and on two, with cores near and far.
inline double worth_sharing_within_ns(double job_ns, double activation_bytes) {
  const double first = std::min(activation_bytes, 8e3), rest = std::min(activation_bytes, 256e3);
  return job_ns / (8 + 5e-3 * first + 6e-4 * rest);
}

/// Jobs that a step hands out one after another: a recurrent operator some for each step in time,
/// if it goes in one direction only (two are one thread's each). `steps`: of the first input.
inline double jobs_of(std::string_view op, bool two_directions, double steps) {
  for (const char* recurrent : {"LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"}) {
    if (op == recurrent && !two_directions) return std::max(1.0, 2 * steps);
  }
  return 1;
}

/// What loops may take.
constexpr double kUnknownNs = 1e9;

}  // namespace hasten
