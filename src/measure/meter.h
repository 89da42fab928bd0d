// Rates that this machine reaches in short trials: arithmetic in registers, reading of memory.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/exec/engine.h"
#include "measure/dot_peaks.h"
#include "measure/timed.h"

namespace hasten {

/// Memory straight from the system, every page of it written; or none.
class ReadBuffer {
 public:
  explicit ReadBuffer(int64_t bytes);
  ~ReadBuffer();
  ReadBuffer(const ReadBuffer&) = delete;
  ReadBuffer& operator=(const ReadBuffer&) = delete;
  const float* data() const { return data_; }  // null: there is no memory for it
  int64_t bytes() const { return bytes_; }

 private:
  float* data_ = nullptr;
  int64_t bytes_;
};

/// Bytes for each thread to read that lie well inside a level and well beyond the one before. The
/// last level is shared by the threads, and with whoever else lives on the machine, so a quarter of
/// it is ours at most. 0: the level is unknown, or a thread's share hardly larger than L2.
struct ReadSizes {
  int64_t l2 = 0, l3 = 0, dram = 0;
};
ReadSizes read_sizes(const CpuFacts& cpu, int threads);

/// Each rate is the best of several trials of about a millisecond, at least three, over
/// `budget_s`; fewer once control.stop is set.
class Meter {
 public:
  Meter(Context& context, const MeasureControl& control, double budget_s)
      : context_(context), control_(control), budget_s_(budget_s) {}

  /// GFLOP/s of multiply-adds, all threads together.
  double fp32(int threads);
  /// Operations per nanosecond of dot products; dot.name must not be null.
  double dot(int threads, const DotPeak& dot);
  /// GB/s of each thread reading a part of its own, `bytes_each` long (rounded down to whole
  /// items), again and again. The buffer must hold read_bytes(threads, bytes_each).
  double read(int threads, const ReadBuffer& buffer, int64_t bytes_each);
  /// Reads all of the buffer once, a part on each thread: what was in the caches is there no more.
  void sweep(int threads, const ReadBuffer& buffer);
  static int64_t read_bytes(int threads, int64_t bytes_each);

 private:
  void on_threads(int threads, const std::function<void(int64_t)>& body);
  /// body(thread) on `threads` threads at once; it does `work` operations.
  double rate(int threads, double work, const std::function<void(int64_t)>& body);

  Context& context_;
  const MeasureControl& control_;
  double budget_s_;
};

}  // namespace hasten
