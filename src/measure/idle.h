// Waiting for threads that still spin.
#pragma once

namespace hasten {

/// Returns when this process's threads (the caller aside) have stopped using CPU, or after
/// `most_ms`; true if they have. Thread pools of other runtimes spin for milliseconds after a run
/// and would slow down whoever is measured next.
bool wait_until_idle(double most_ms = 500);

}  // namespace hasten
