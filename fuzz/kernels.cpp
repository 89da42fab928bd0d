// A random graph on each tier of this CPU: the same bits.
#include "fuzz/random_graph.h"

using namespace hasten;

namespace {

std::unique_ptr<Context> context_of(Isa isa) {
  ::setenv("HASTEN_ISA", isa_name(isa), 1);
  return std::move(*Context::make());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto isas = supported_isas();
  static const auto scalar = context_of(isas.front()), best = context_of(isas.back());
  const fuzz::RandomGraph g = fuzz::random_graph(data, size);
  EngineOptions options;
  options.threads = 1;
  const auto a = fuzz::run(*scalar, g, options), b = fuzz::run(*best, g, options);
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof a[i]) == 0 || (std::isnan(a[i]) && std::isnan(b[i])))
      continue;
    std::fprintf(stderr, "%zu: %a on %s, %a on %s\n%s", i, a[i], isa_name(isas.front()), b[i],
                 isa_name(isas.back()), g.text.c_str());
    __builtin_trap();
  }
  return 0;
}
