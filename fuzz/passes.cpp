// A random graph as it is on the references, and through all passes on the kernels: the same
// answers, within what the passes may move them.
#include "fuzz/random_graph.h"

using namespace hasten;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto context = *Context::make();
  const fuzz::RandomGraph g = fuzz::random_graph(data, size);
  EngineOptions plain;
  plain.threads = 1;
  plain.reference_only = true;
  plain.enable_passes = false;
  EngineOptions all;
  all.threads = 1;
  const auto before = fuzz::run(*context, g, plain), after = fuzz::run(*context, g, all);
  if (before.size() != after.size()) __builtin_trap();
  float scale = 0;
  for (const float x : before) {
    // Where numbers overflow, an ulp decides between a number and infinity.
    if (!std::isfinite(x) || std::abs(x) > 1e30f) return 0;
    scale = std::max(scale, std::abs(x));
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (!(std::abs(before[i] - after[i]) <= 1e-2f * scale + 1e-3f)) {
      std::fprintf(stderr, "%zu: %g, then %g\n%s", i, before[i], after[i], g.text.c_str());
      __builtin_trap();
    }
  }
  return 0;
}
