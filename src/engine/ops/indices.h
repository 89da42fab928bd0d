// Indices into an axis: checking them before, at and after a kernel.
#pragma once

#include <atomic>

#include "engine/ops/op.h"

namespace hasten {

/// If the indices and the axis are known: is each in [-dim, dim-1]? Symbol codes pass.
Status check_known_indices(const OpContext& c, const Facts& indices, Dim dim);

/// The indices counted from the front. Error: invalid_model, naming the first outside [-dim,
/// dim-1].
Result<std::vector<int64_t>> read_indices(const OpContext& c, const TensorView& indices,
                                          int64_t dim);

/// Error of one index outside.
tl::unexpected<Error> bad_index(const OpContext& c, int64_t index, int64_t dim);

/// Keeps the smallest position + 1 that a kernel reported, so that messages do not depend on
/// threads.
inline void report_fault(const StepArgs& s, int64_t bad) {
  int64_t before = s.fault->load(std::memory_order_relaxed);
  while ((before == 0 || bad < before) && !s.fault->compare_exchange_weak(before, bad)) {
  }
}

/// Runs a kernel whose args have `bad` (position + 1 of an index outside, or 0) over its items.
template <class Args, class Kernel>
void run_indexed(const StepArgs& s, const Args& args, int64_t items, int64_t grain, Kernel kernel) {
  s.parallel(items, grain, [&](int64_t begin, int64_t end) {
    Args part = args;
    int64_t bad = 0;
    part.bad = &bad;
    kernel(&part, begin, end);
    if (bad != 0) report_fault(s, bad);
  });
}

}  // namespace hasten
