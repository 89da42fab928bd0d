// A claim of "this way of running the model is faster", with everything needed to check it again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/exec/engine.h"
#include "measure/compare.h"
#include "measure/diff_outputs.h"

namespace hasten {

/// What a candidate's outputs must keep to, held against the baseline's.
struct AccuracyGate {
  double max_rel = 1e-3;      // full precision: of the output's scale
  double min_cosine = 0.999;  // reduced precision
  double min_top1 = 0.99;     // reduced precision, where rows have a top-1
  int64_t min_samples = 100;  // reduced precision: fewer prove nothing
};

struct Accuracy {
  OutputDiff diff;
  bool passed = false;
  std::string why;  // the gate in words, with both values
};

/// Holds a diff against the gate that belongs to the precision.
Accuracy judge_accuracy(const OutputDiff& diff, Precision precision, const AccuracyGate& gate);

enum class Outcome {
  kBaseline,
  kChosen,
  kLost,     // slower, or no faster
  kUnsure,   // compared in full, neither proven faster nor proven not to be
  kOut,      // its answers differ too much
  kFailed,   // could not be opened or run
  kUntried,  // nobody got round to it: interrupted
};
/// "baseline", "chosen", "lost", "unsure", "out", "failed", "untried"
const char* outcome_name(Outcome outcome);

/// One way of running the model, and what became of it.
struct Tried {
  EngineOptions options;
  std::string target;   // "engine=openvino,threads=2,precision=bf16"
  std::string version;  // of the engine; empty if it never opened
  Outcome outcome = Outcome::kUntried;
  std::string why;
  std::optional<double> p50_ms;    // of the screening
  std::optional<double> screened;  // speedup over the baseline in the screening
  std::optional<double> speedup;   // and in the full comparison, which only finalists get
  std::optional<Interval> ci;      // of `speedup`
  std::optional<Accuracy> accuracy;
};

struct Proof {
  std::string hasten_version;
  std::string model_path, model_hash;  // hash_hex of the .onnx file
  std::string data;                    // where the inputs came from, in words
  std::string data_hash;               // of all inputs' elements
  int64_t samples = 0;                 // inputs used for accuracy
  std::string fingerprint;             // of the machine
  std::string created;                 // UTC, ISO 8601
  Tried baseline, chosen;              // the same where nothing was proven faster
  bool keeps_baseline = true;
  Comparison comparison;     // A: baseline, B: challenger
  std::string challenger;    // target: the chosen one, or the one that came nearest; "" if none
  std::vector<Tried> tried;  // all, the baseline first
  bool interrupted = false;

  /// The baseline was kept because nothing could be proven, not because all others are no faster.
  bool unsure() const {
    return keeps_baseline &&
           (interrupted || (comparison.rounds > 0 && comparison.verdict == Verdict::kUnsure));
  }
};

}  // namespace hasten
