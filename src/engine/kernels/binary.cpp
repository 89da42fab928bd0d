// Element-wise arithmetic on floats.
#include "engine/kernels/kernels.h"
#include "engine/kernels/vec.h"

namespace hasten {
namespace HASTEN_NS {

void add_f32(const BinaryArgs* a, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i += kLanes) {
    const int64_t n = end - i < kLanes ? end - i : kLanes;
    const F16 x = a->a_step ? load_n(a->a + i, n) : set1(*a->a);
    const F16 y = a->b_step ? load_n(a->b + i, n) : set1(*a->b);
    store_n(add(x, y), a->out + i, n);
  }
}

}  // namespace HASTEN_NS
}  // namespace hasten
