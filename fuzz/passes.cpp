#include <algorithm>
#include <cmath>

#include "fuzz/random_graph.h"
#include "fuzz/targets.h"

namespace hasten::fuzz {

std::string passes(Input bytes) {
  static const auto context = *Context::make();
  RandomGraph g = random_graph(bytes.data(), bytes.size());
  EngineOptions plain;
  plain.threads = 1;
  plain.reference_only = true;
  plain.enable_passes = false;
  EngineOptions all;
  all.threads = 1;
  const auto before = run(*context, g, plain), after = run(*context, g, all);
  if (before.size() != after.size()) {
    return fmt::format("{} elements, then {}\n{}", before.size(), after.size(), g.text);
  }
  float scale = 0;
  for (const float x : before) {
    // Where numbers overflow, an ulp decides between a number and infinity.
    if (!std::isfinite(x) || std::abs(x) > 1e30F) return "";
    scale = std::max(scale, std::abs(x));
  }
  const auto worst = [&](const std::vector<float>& a) {
    size_t at = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(std::abs(before[i] - a[i]) <= std::abs(before[at] - a[at]))) at = i;
    }
    return at;
  };
  if (before.empty()) return "";
  const size_t i = worst(after);
  if (std::abs(before[i] - after[i]) <= 1e-3F * scale + 1e-4F) return "";
  // Some graphs blow up a difference of roundings: how much does this one?
  RandomGraph moved = g;
  for (float& x : moved.input) x *= 1 + 1e-5F;
  const auto shaken = run(*context, moved, plain);
  const size_t j = worst(shaken);
  const float sway = std::abs(before[j] - shaken[j]);
  if (!(sway < 1e-2F * scale)) return "";
  const float off = std::abs(before[i] - after[i]);
  if (off <= 10 * sway + 1e-3F * scale) return "";
  // Where sums cancel whatever the input is, the kernels are as far off without any pass.
  all.enable_passes = false;
  const auto kernels = run(*context, g, all);
  if (off <= 10 * std::abs(before[i] - kernels[i])) return "";
  return fmt::format("element {} is {}, then {}\n{}", i, before[i], after[i], g.text);
}

}  // namespace hasten::fuzz
