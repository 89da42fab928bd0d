// Results as text for people.
#pragma once

#include <string>

#include "measure/bench.h"
#include "measure/compare.h"
#include "measure/proof.h"
#include "report/style.h"

namespace hasten {

std::string bench_text(const BenchResult& result, const Style& style);
std::string compare_text(const Comparison& comparison, const std::string& a, const std::string& b,
                         const Style& style);
/// "99 % interval 1.02 … 1.05"
std::string interval_words(const Comparison& comparison);
/// Why the baseline was kept: nothing is faster, or nothing could be proven.
std::string kept_text(const Proof& proof);
/// What was tried, what won and why.
std::string proof_text(const Proof& proof, const Style& style);
/// "max abs 1.2e-06, max rel …": how far two models' outputs are apart.
std::string outputs_text(const OutputDiff& diff);
/// One line a warning: what, why, what to do next.
std::string warnings_text(const std::vector<Warning>& warnings, const Style& style);

}  // namespace hasten
