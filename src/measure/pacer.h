// When the requests of an open-loop load are due.
#pragma once

#include <cstdint>

#include "measure/timed.h"

namespace hasten {

/// Requests at even intervals, whether or not the one before has been answered.
class Pacer {
 public:
  /// `rate`: requests a second; 0: one as soon as the one before is done. `control` is not owned.
  Pacer(double rate, const MeasureControl& control);
  /// Sleeps until the next request is due, or the control says stop. Returns for how long it has
  /// been due, in nanoseconds, if the one before kept it waiting; a timer that rings late is not
  /// the engine's doing and counts nothing.
  int64_t wait();
  /// Requests that had to wait.
  int64_t delayed() const { return delayed_; }

 private:
  const MeasureControl& control_;
  double interval_ns_ = 0;
  int64_t first_ns_ = 0, requests_ = 0, delayed_ = 0;
};

}  // namespace hasten
