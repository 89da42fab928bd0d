// What loading a model may cost, and reach.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"

namespace hasten {

/// For models that nobody vouches for; 0 means no limit.
struct LoadLimits {
  int64_t bytes = 0;                          // of all weights
  int64_t nodes = 100'000;                    // once functions are inlined
  int64_t folded_bytes = int64_t{256} << 20;  // of constants computed ahead; folding stops there
  double seconds = 0;                         // until the model is ready to run
  /// External data may lie behind symbolic links that leave the model's folder, as in the cache of
  /// Hugging Face.
  bool allow_external_links = false;
};

/// Watches the seconds of the limits, from when it is made.
class LoadClock {
 public:
  LoadClock() = default;
  explicit LoadClock(double seconds)
      : seconds_(seconds), end_(seconds > 0 ? now_ns() + static_cast<int64_t>(seconds * 1e9) : 0) {}
  /// Error: deadline.
  Status check() const {
    if (end_ == 0 || now_ns() < end_) return {};
    return fail(Code::kDeadline,
                "the model takes longer to load than the limit of {} s (see "
                "--max-load-seconds)",
                seconds_);
  }

 private:
  double seconds_ = 0;
  int64_t end_ = 0;
};

}  // namespace hasten
