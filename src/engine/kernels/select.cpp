#include "engine/kernels/select.h"

namespace hasten {

namespace scalar {
extern const KernelTable kTable;
}
#if defined(HASTEN_X86)
namespace avx2 {
extern const KernelTable kTable;
}
#if defined(HASTEN_NO_AVX512)
namespace avx512 = avx2;
#else
namespace avx512 {
extern const KernelTable kTable;
}
#endif
#endif

const KernelTable& kernel_table(Isa isa) {
  switch (isa) {
#if defined(HASTEN_X86)
    case Isa::kAvx512:
      return avx512::kTable;
    case Isa::kAvx2:
      return avx2::kTable;
#endif
    default:
      return scalar::kTable;
  }
}

}  // namespace hasten
