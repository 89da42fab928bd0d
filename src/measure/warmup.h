// Where warming up ends.
#pragma once

#include <cstdint>
#include <span>

namespace hasten {

struct Warmup {
  int64_t runs = 0;   // runs at the start that don't belong to the steady state
  bool ended = true;  // false: it lasted through the first half; what follows may not be steady
};

/// The steady level is the median of the second half; warm-up ends where the median of five
/// runs in a row first comes as near to it as runs of the second half do to each other, but at
/// least within 2 %. At most the first half is given up. Slow and fast starts both count.
/// Bursts of noise later on don't move the answer; whether the level holds, find_unsteady says.
/// Needs 4 runs. Source: the idea of a steady state detected afterwards, not guessed: Barrett et
/// al. 2017, Virtual Machine Warmup Blows Hot and Cold; White 1997 (MSER: give up at most half).
Warmup find_warmup(std::span<const double> run_ms);

}  // namespace hasten
