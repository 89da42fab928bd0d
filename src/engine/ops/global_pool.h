// GlobalAveragePool and GlobalMaxPool: a reduction over all axes but the first two.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/ops/op.h"
#include "engine/ops/reduction.h"

namespace hasten {

/// infer() of both: floats [N,C,...] to [N,C,1,...].
Status infer_global_pool(InferContext& c);

/// The axes behind the second.
std::vector<size_t> image_axes(size_t rank);

/// Its rows.
template <Reduction kReduction>
std::vector<OpDef> global_pool(const char* name) {
  const auto reference = [](RefContext& c) {
    Dims dims = c.in(0).dims;
    std::fill(dims.begin() + 2, dims.end(), 1);
    return reference_reduction(c, kReduction, image_axes(dims.size()), dims);
  };
  const auto lower = [](LowerContext& c) {
    return lower_reduction(c, kReduction, image_axes(c.in(0).rank()));
  };
  return {{"", name, 1, kLastOpset, 1, 1, 1, 1, {}, infer_global_pool, reference, lower}};
}

}  // namespace hasten
