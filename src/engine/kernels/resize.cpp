// One axis of a linear or cubic resize, with or without antialiasing.
#include "engine/kernels/vec.h"
#include "engine/kernels/window_args.h"

namespace hasten {
namespace HASTEN_NS {

// A tap of weight 0 is not read: an infinity beside the place must not make NaN of it.
void resample_f32(const ResampleArgs* a, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = i % a->out_rows;
    const float* in = a->in + i / a->out_rows * a->in_rows * a->inner;
    const int64_t* index = a->index + row * a->taps;
    const float* weight = a->weight + row * a->taps;
    float* out = a->out + i * a->inner;
    if (a->inner == 1) {
      float sum = 0;
      for (int64_t t = 0; t < a->taps; ++t) {
        if (weight[t] != 0) sum = __builtin_fmaf(weight[t], in[index[t]], sum);
      }
      *out = sum;
      continue;
    }
    for (int64_t j = 0; j < a->inner; j += kLanes) {
      const int64_t n = a->inner - j < kLanes ? a->inner - j : kLanes;
      F16 sum = set1(0);
      for (int64_t t = 0; t < a->taps; ++t) {
        if (weight[t] == 0) continue;
        sum = fma(set1(weight[t]), load_n(in + index[t] * a->inner + j, n), sum);
      }
      store_n(sum, out + j, n);
    }
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
