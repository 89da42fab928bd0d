// Finds the fastest way to run a model that keeps its answers, and proves it.
#pragma once

#include <span>
#include <string>

#include "measure/proof.h"

namespace hasten {

struct OptimizeOptions {
  double seconds = 30;  // of a full comparison, at most
  double alpha = 0.01;
  int max_threads = 0;  // candidates run on 1 … max_threads; 0: the machine's choice
  MathMode math = MathMode::kFast;
  std::map<std::string, Shape> shapes;  // overrides of declared input shapes
  int64_t memory_limit = 0;
  AccuracyGate gate;
  MeasureControl control;
};

/// The candidates on this machine: our engine, ONNX Runtime and OpenVINO (where built in) on
/// 1 … N threads, OpenVINO in bf16 too where the CPU has it. The first is the baseline: ONNX
/// Runtime with its default options, or where it isn't built in, our engine on one thread.
std::vector<EngineOptions> optimize_candidates(Context& context, const OptimizeOptions& options);

/// Opens all candidates, drops those whose outputs on `sets` don't agree with the baseline's, times
/// the others in alternating rounds, and compares the best with the baseline (compare()). A
/// candidate wins only when that interval lies above 1; else the baseline is kept. The best two
/// share alpha and twice `seconds`: what one leaves over, an undecided one gets. Names the reason
/// for each that lost. When control.stop is set, returns what there is with `interrupted`.
/// The command line describes the data and writes the bundle: this only finds and proves.
/// Errors: the baseline's (it must open and run); invalid_argument without inputs.
Result<Proof> optimize(Context& context, const std::string& model, std::span<const InputSet> sets,
                       const OptimizeOptions& options);

}  // namespace hasten
