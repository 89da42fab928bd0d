// Two models on the same samples.
#pragma once

#include <span>

#include "cli/target.h"
#include "measure/diff_outputs.h"
#include "measure/inputs.h"
#include "measure/timed.h"

namespace hasten {

/// A's samples as B takes them. Error: invalid_argument, naming B where it wants others.
Result<std::vector<InputSet>> sets_for_b(const Samples& samples, const Target& b,
                                         const OpenedModel& model_b);

/// Runs every sample on both and diffs the outputs, those of the same name with each other. Ends
/// early when control.stop is set. Errors: those of the runs.
Result<OutputDiff> diff_models(OpenedModel& a, OpenedModel& b, std::span<const InputSet> sets_a,
                               std::span<const InputSet> sets_b, const MeasureControl& control);

}  // namespace hasten
