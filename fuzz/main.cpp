// libFuzzer's entry: HASTEN_FUZZ_TARGET is a function of targets.h.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz/targets.h"

#define HASTEN_TEXT_(x) #x
#define HASTEN_TEXT(x) HASTEN_TEXT_(x)

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string wrong = hasten::fuzz::HASTEN_FUZZ_TARGET({data, size});
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "FINDING: %s\n", wrong.c_str());
  std::abort();
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  constexpr bool kProto = std::string_view(HASTEN_TEXT(HASTEN_FUZZ_TARGET)) == "onnx_load";
  if (kProto && seed % 4 != 0) return hasten::fuzz::mutate_proto(data, size, max_size, seed / 4);
  return LLVMFuzzerMutate(data, size, max_size);
}
