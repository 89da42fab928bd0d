#include "measure/idle.h"

#include <ctime>

#include "base/clock.h"

namespace hasten {

bool wait_until_idle(double most_ms) {
  const int64_t end = now_ns() + static_cast<int64_t>(most_ms * 1e6);
  while (true) {
    const int64_t wall = now_ns(), cpu = process_cpu_ns();
    const timespec nap = {0, 100'000};
    nanosleep(&nap, nullptr);
    // A spinning thread takes the whole nap; waking up ourselves takes some microseconds.
    if (process_cpu_ns() - cpu < (now_ns() - wall) / 3) return true;
    if (now_ns() >= end) return false;
  }
}

}  // namespace hasten
