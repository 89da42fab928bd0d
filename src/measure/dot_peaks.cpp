// These functions are compiled for instruction sets beyond the rest of the file. They use no
// library code, so that nothing compiled for them can be linked elsewhere.
#include "measure/dot_peaks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace hasten {
namespace {

#if defined(__x86_64__)

constexpr int kChains = 8;  // four or five cycles of latency on at most two units
constexpr int kPerItem = 64;

__attribute__((target("avx512f,avx512vnni"))) void vnni512(int64_t items, int32_t* out) {
  const __m512i a = _mm512_set1_epi32(*out), b = _mm512_set1_epi32(*out + 1);
  __m512i x[kChains];
  for (__m512i& v : x) v = a;
  for (int64_t i = 0; i < items; ++i) {
    for (int step = 0; step < kPerItem / kChains; ++step) {
#pragma GCC unroll 8
      for (int j = 0; j < kChains; ++j) x[j] = _mm512_dpbusd_epi32(x[j], a, b);
    }
  }
  for (int j = 1; j < kChains; ++j) x[0] = _mm512_xor_si512(x[0], x[j]);
  // Stored whole: GCC 12 warns of its own header where a part is taken out.
  int32_t lanes[16];
  _mm512_storeu_si512(lanes, x[0]);
  *out += lanes[0];
}

__attribute__((target("avx2,avxvnni"))) void vnni256(int64_t items, int32_t* out) {
  const __m256i a = _mm256_set1_epi32(*out), b = _mm256_set1_epi32(*out + 1);
  __m256i x[kChains];
  for (__m256i& v : x) v = a;
  for (int64_t i = 0; i < items; ++i) {
    for (int step = 0; step < kPerItem / kChains; ++step) {
#pragma GCC unroll 8
      for (int j = 0; j < kChains; ++j) x[j] = _mm256_dpbusd_avx_epi32(x[j], a, b);
    }
  }
  for (int j = 1; j < kChains; ++j) x[0] = _mm256_xor_si256(x[0], x[j]);
  *out += _mm_cvtsi128_si32(_mm256_castsi256_si128(x[0]));
}

__attribute__((target("avx512f,avx512bf16"))) void bf16_512(int64_t items, int32_t* out) {
  const __m512i bits = _mm512_set1_epi32(*out & 0x3f003f00);  // small positive numbers
  const __m512bh a = (__m512bh)bits;                          // NOLINT: the only way in GCC 12
  __m512 x[kChains];
  for (__m512& v : x) v = _mm512_setzero_ps();
  for (int64_t i = 0; i < items; ++i) {
    for (int step = 0; step < kPerItem / kChains; ++step) {
#pragma GCC unroll 8
      for (int j = 0; j < kChains; ++j) x[j] = _mm512_dpbf16_ps(x[j], a, a);
    }
  }
  for (int j = 1; j < kChains; ++j) x[0] = _mm512_add_ps(x[0], x[j]);
  float lanes[16];
  _mm512_storeu_ps(lanes, x[0]);
  *out += lanes[0] > 1 ? 1 : 0;
}

#endif

}  // namespace

// __builtin_cpu_supports also asks the operating system (XCR0) whether it saves the registers.

DotPeak int8_dot_peak() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512vnni"))
    return {"avx512_vnni", "", kPerItem * 16 * 8.0, vnni512};
  // GCC 12 has no name for AVX-VNNI here: leaf 7, subleaf 1, EAX bit 4.
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1)) {
    return {"avx_vnni", "", kPerItem * 8 * 8.0, vnni256};
  }
#endif
  return {nullptr, "this CPU has no int8 dot product (avx512_vnni, avx_vnni)", 0, nullptr};
}

DotPeak bf16_dot_peak() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512bf16")) {
    return {"avx512_bf16", "", kPerItem * 16 * 4.0, bf16_512};
  }
#endif
  return {nullptr, "this CPU has no bfloat16 dot product (avx512_bf16)", 0, nullptr};
}

}  // namespace hasten
