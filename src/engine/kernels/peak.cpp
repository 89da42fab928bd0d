// The most that this tier can do: multiply-adds in registers, and reading memory. For measuring
// the roof that other kernels are held against, not for models.
#include "engine/kernels/peak_args.h"
#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

// Ten chains of real vectors hide four cycles of latency on two units and leave registers free.
constexpr int kChains = kVectors >= 10 ? 1 : 10 / kVectors;

void peak_fma_f32(const PeakFmaArgs* a, int64_t begin, int64_t end) {
  const F16 factor = set1(a->factor), addend = set1(a->addend);
  F16 x[kChains];
  for (int j = 0; j < kChains; ++j) x[j] = set1(a->addend + static_cast<float>(j));
  constexpr int kSteps = kPeakFmaPerItem / kChains / kLanes;
  static_assert(kSteps * kChains * kLanes == kPeakFmaPerItem, "whole steps");
  for (int64_t i = begin; i < end; ++i) {
    for (int step = 0; step < kSteps; ++step) {
      _Pragma("GCC unroll 10") for (int j = 0; j < kChains; ++j) x[j] = fma(x[j], factor, addend);
    }
  }
  F16 sum = x[0];
  for (int j = 1; j < kChains; ++j) sum = add(sum, x[j]);
  *a->out = sum_lanes(sum);
}

void peak_read(const PeakReadArgs* a, int64_t begin, int64_t end) {
  constexpr int kSums = 8 / kVectors > 0 ? 8 / kVectors : 1;
  static_assert(kPeakReadItem % (kSums * kLanes) == 0, "whole steps");
  F16 sum[kSums];
  for (int j = 0; j < kSums; ++j) sum[j] = set1(0);
  for (int64_t round = 0; round < a->rounds; ++round) {
    const float* const stop = a->data + end * kPeakReadItem;
    for (const float* p = a->data + begin * kPeakReadItem; p < stop; p += kSums * kLanes) {
      _Pragma("GCC unroll 8") for (int j = 0; j < kSums; ++j) {
        sum[j] = add(sum[j], load(p + j * kLanes));
      }
    }
  }
  for (int j = 1; j < kSums; ++j) sum[0] = add(sum[0], sum[j]);
  *a->out = sum_lanes(sum[0]);
}

}  // namespace HASTEN_NS
}  // namespace hasten
