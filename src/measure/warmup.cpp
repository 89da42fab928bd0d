#include "measure/warmup.h"

#include <algorithm>
#include <cmath>

#include "measure/statistics.h"

namespace hasten {

Warmup find_warmup(std::span<const double> run_ms) {
  const size_t n = run_ms.size();
  if (n < 4) return {};
  const std::span<const double> steady = run_ms.subspan(n / 2);
  const size_t window = std::min<size_t>(5, n / 4);
  const double level = median(steady);
  // Four standard errors of a median of `window` normal values (1.2533 sigma / sqrt(window)).
  const double sigma = 1.4826 * median_absolute_deviation(steady);
  const double near =
      std::max(0.02 * level, 4 * 1.2533 * sigma / std::sqrt(static_cast<double>(window)));
  for (size_t i = 0; i <= n / 2; ++i) {
    if (std::fabs(median(run_ms.subspan(i, window)) - level) > near) continue;
    // The window may still begin with slow runs that its median doesn't feel.
    size_t first = i;
    while (first < i + window / 2 && std::fabs(run_ms[first] - level) > 3 * near) ++first;
    return {static_cast<int64_t>(std::min(first, n / 2)), true};
  }
  return {static_cast<int64_t>(n / 2), false};
}

}  // namespace hasten
