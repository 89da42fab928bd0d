#include "measure/proof.h"

namespace hasten {

namespace {

std::string samples_text(int64_t n) { return fmt::format("{} sample{}", n, n == 1 ? "" : "s"); }

}  // namespace

Accuracy judge_accuracy(const OutputDiff& diff, Precision precision, const AccuracyGate& gate) {
  Accuracy out;
  out.diff = diff;
  if (!diff.max_rel) {
    out.why = fmt::format("outputs can't be compared: {}", diff.reason);
    return out;
  }
  if (precision == Precision::kModel || precision == Precision::kFp32) {
    out.passed = *diff.max_rel <= gate.max_rel;
    out.why = fmt::format("max error {:.2g} of the output's scale, allowed {:.2g}, on {}",
                          *diff.max_rel, gate.max_rel, samples_text(diff.samples));
    return out;
  }
  if (diff.samples < gate.min_samples) {
    out.why = fmt::format("{}, a change of precision wants at least {}: give more with --data",
                          samples_text(diff.samples), gate.min_samples);
    return out;
  }
  const double cosine = diff.cosine.value_or(0);
  const bool top1_passed = !diff.top1_agreement || *diff.top1_agreement >= gate.min_top1;
  out.passed = cosine >= gate.min_cosine && top1_passed;
  out.why = fmt::format("cosine {:.5f}, wanted {:.3f}", cosine, gate.min_cosine);
  if (diff.top1_agreement) {
    out.why += fmt::format("; top-1 agreement {:.2f} %, wanted {:.0f} %",
                           *diff.top1_agreement * 100, gate.min_top1 * 100);
  }
  out.why += "; on " + samples_text(diff.samples);
  return out;
}

const char* outcome_name(Outcome outcome) {
  constexpr const char* kNames[] = {"baseline", "chosen", "lost",   "unsure",
                                    "out",      "failed", "untried"};
  return kNames[static_cast<int>(outcome)];
}

}  // namespace hasten
