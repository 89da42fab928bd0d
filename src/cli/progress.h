// One line on the terminal that says how far things are.
#pragma once

#include <cstdint>
#include <string>

#include "measure/timed.h"

namespace hasten {

/// Draws on stderr, only on a terminal, only after a second, at most ten times a second.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  void update(const Progress& progress);
  /// Takes the line away, so that something else can be printed.
  void clear();

 private:
  bool terminal_ = false, drawn_ = false;
  int64_t begin_ns_ = 0, last_ns_ = 0;
};

}  // namespace hasten
