// The peaks of instructions that no kernel tier requires: bfloat16 and int8 dot products.
#pragma once

#include <cstdint>

namespace hasten {

/// Does `items` times 64 dot-product instructions in registers; adds something to *out.
struct DotPeak {
  const char* name;     // "avx512_vnni"; null: this CPU or build has none
  const char* why_not;  // where name is null
  double operations;    // multiplications and additions per item
  void (*run)(int64_t items, int32_t* out);
};

/// What this CPU and operating system can run, the widest first choice.
DotPeak int8_dot_peak();
DotPeak bf16_dot_peak();

}  // namespace hasten
