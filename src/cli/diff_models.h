// Two models on the same samples.
#pragma once

#include <span>

#include "measure/diff_outputs.h"
#include "measure/timed.h"

namespace hasten {

/// Runs every sample on both and diffs the outputs, those of the same name with each other. Ends
/// early when control.stop is set. Errors: those of the runs.
Result<OutputDiff> diff_models(OpenedModel& a, OpenedModel& b, std::span<const InputSet> sets_a,
                               std::span<const InputSet> sets_b, const MeasureControl& control);

}  // namespace hasten
