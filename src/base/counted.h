// Counts and durations in words.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

namespace hasten {

/// "1 round", "2 rounds"; `many` where it is not `one` with an s.
template <class Integer>
std::string counted(Integer count, std::string_view one, std::string_view many = "") {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

/// "about 40 s", "about 12 min": rounded up, the same wherever an estimate is told.
inline std::string about_seconds(double seconds) {
  return seconds < 99.5 ? fmt::format("about {:.0f} s", std::ceil(seconds))
                        : fmt::format("about {:.0f} min", std::ceil(seconds / 60));
}

}  // namespace hasten
