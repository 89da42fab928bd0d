// Folded stacks for flame graphs.
#pragma once

#include <string>

#include "measure/profile.h"

namespace hasten {

/// One line an op, "model;Conv;conv1 1234": microseconds per run, and what is unattributed. What
/// flamegraph.pl, inferno and speedscope read.
std::string folded_stacks(const Profile& profile);

}  // namespace hasten
