// The kernels as the rest of the engine sees them: plain structs and function pointers. This header
// and the args of each family are POD only: they are included by files compiled for AVX-512. A
// kernel file includes its family's args alone, so that a change to them compiles few files again.
#pragma once

#include "engine/kernels/activation_args.h"
#include "engine/kernels/copy_args.h"
#include "engine/kernels/elementwise_args.h"
#include "engine/kernels/gemm_args.h"
#include "engine/kernels/integer_args.h"
#include "engine/kernels/peak_args.h"
#include "engine/kernels/reduce_args.h"
#include "engine/kernels/window_args.h"

namespace hasten {

// Every kernel is `void name(const Args* a, int64_t begin, int64_t end)`: it does the work items
// [begin, end) of the a->… dimension that its Args documents as "items", so that the caller can
// split the work over threads. Kernels are noexcept, allocate nothing, never trap on any value, and
// give the same bits on every tier (explicit FMA, sums in one fixed order).

#define HASTEN_KERNEL(name, Args) using name##_fn = void (*)(const Args*, int64_t, int64_t);
#include "engine/kernels/kernels.inc"
#undef HASTEN_KERNEL

/// All kernels of one ISA tier.
struct KernelTable {
  const char* isa;
#define HASTEN_KERNEL(name, Args) name##_fn name;
#include "engine/kernels/kernels.inc"
#undef HASTEN_KERNEL
};

}  // namespace hasten
