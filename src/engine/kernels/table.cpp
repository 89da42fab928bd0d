// The kernel table of one tier; compiled once per tier like the kernels themselves.
#include "engine/kernels/kernels.h"

#if HASTEN_TIER == 2
#define HASTEN_NS avx512
#elif HASTEN_TIER == 1
#define HASTEN_NS avx2
#else
#define HASTEN_NS scalar
#endif
#define HASTEN_STRING_(x) #x
#define HASTEN_STRING(x) HASTEN_STRING_(x)

namespace hasten {
namespace HASTEN_NS {

#define HASTEN_KERNEL(name, Args) void name(const Args*, int64_t, int64_t);
#include "engine/kernels/kernels.inc"
#undef HASTEN_KERNEL

extern const KernelTable kTable;
const KernelTable kTable = {
    HASTEN_STRING(HASTEN_NS),
#define HASTEN_KERNEL(name, Args) name,
#include "engine/kernels/kernels.inc"
#undef HASTEN_KERNEL
};

}  // namespace HASTEN_NS
}  // namespace hasten
