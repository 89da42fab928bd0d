// Monotonic time in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace hasten {

inline int64_t clock_ns(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Wall time that never jumps (CLOCK_MONOTONIC).
inline int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

/// CPU time of the calling thread.
inline int64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/// CPU time of the whole process, all threads.
inline int64_t process_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace hasten
