// Packs right-hand matrices for gemm.cpp: weights once, others at each run.
#include "engine/kernels/gemm_args.h"
#include "engine/kernels/panels.h"

namespace hasten {
namespace HASTEN_NS {

void pack_panels_f32(const PackPanelsArgs* a, int64_t begin, int64_t end) {
  const int64_t panels = (a->n + kPanel - 1) / kPanel;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t matrix = i / panels, n = i % panels * kPanel;
    const float* b = a->b + (a->b_offset ? a->b_offset[matrix] : 0) + n * a->b_n;
    const int64_t cols = a->n - n < kPanel ? a->n - n : kPanel;
    pack_panel(b, a->b_k, a->b_n, a->k, cols, a->panels + i * a->k * kPanel);
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
