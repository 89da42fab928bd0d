#include "measure/pacer.h"

#include <time.h>

#include <algorithm>
#include <cmath>

namespace hasten {

namespace {

void sleep_until(int64_t ns) {
  const timespec at = {static_cast<time_t>(ns / 1'000'000'000),
                       static_cast<long>(ns % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

}  // namespace

Pacer::Pacer(double rate, const MeasureControl& control)
    : control_(control), interval_ns_(rate > 0 ? 1e9 / rate : 0) {}

int64_t Pacer::wait() {
  if (interval_ns_ == 0) return 0;
  const int64_t now = control_.now();
  if (requests_ == 0) first_ns_ = now;
  const int64_t due = first_ns_ + std::llround(static_cast<double>(requests_++) * interval_ns_);
  if (now > due) {
    ++delayed_;
    return now - due;
  }
  constexpr int64_t kSliceNs = 100'000'000;  // how long an interrupt may go unheard
  for (int64_t at = now; at < due && !control_.stopped(); at = control_.now()) {
    const int64_t until = std::min(due, at + kSliceNs);
    control_.sleep_until_ns ? control_.sleep_until_ns(until) : sleep_until(until);
  }
  return 0;
}

}  // namespace hasten
