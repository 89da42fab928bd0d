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

/// Columns of a panel: how the matrix kernels want the right-hand matrix. B[K,N] is stored as
/// [ceil(N/16)][K][16], the columns past N zero, the same on every tier.
constexpr int64_t kPanel = 16;

/// B[k * b_k + n * b_n] into panels. Items: panels, all those of the first matrix first.
struct PackPanelsArgs {
  int64_t n, k;
  const float* b;
  int64_t b_k, b_n;         // strides in elements
  const int64_t* b_offset;  // of each matrix; null: one matrix at 0
  float* panels;            // 64-byte aligned
};

/// C = A B for a batch of products, then on each element
///   x = alpha x;  x = beta D + x (one rounding; beta 1: x + D);  x = x + R
/// where D and R are given. Each element of A B is one chain of fma from 0 in ascending k, so its
/// bits depend on nothing but its row of A and its column of B.
/// Items: blocks of `row_block` rows by kItemColumns columns of C, column blocks of a product
/// outside, its row blocks inside.
struct GemmArgs {
  int64_t batch, m, n, k;
  const float* a;
  int64_t a_row, a_k;  // strides in elements
  const float* b;
  int64_t b_k, b_n;  // b_panel 0: strides of B as it is, to be packed on the stack: k <= kStackK
  int64_t b_panel;   // else: element (k, n) is at (n / 16) * b_panel + k * b_k + n % 16
  float* c;
  int64_t c_row;
  const int64_t *a_offset, *b_offset, *c_offset;  // of each product; null: 0
  float alpha, beta;
  const float* d;        // may be null
  int64_t d_row, d_col;  // d_col: 0 or 1
  const float* r;        // may be null; its rows and offsets are those of C
  int64_t row_block;
};
constexpr int64_t kItemColumns = 4 * kPanel;
constexpr int64_t kStackK = 2048;

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
