// The kernels as the rest of the engine sees them: plain structs and function pointers.
// This header is POD only: it is included by files compiled for AVX-512.
#pragma once

#include <stdint.h>

namespace hasten {

// Every kernel is `void name(const Args* a, int64_t begin, int64_t end)`: it does the work items
// [begin, end) of the a->… dimension that its Args documents as "items", so that the caller can
// split the work over threads. Kernels are noexcept, allocate nothing, never trap on any value, and
// give the same bits on every tier (explicit FMA, sums in one fixed order).

/// Element-wise a op b with scalars or whole tensors. Items: elements.
struct BinaryArgs {
  const float* a;
  const float* b;
  float* out;
  int64_t a_step, b_step;  // 1, or 0: the same element throughout
};

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
