// Folding a tensor over some of its axes: ReduceSum and its relatives, global pooling.
#pragma once

#include <span>
#include <vector>

#include "engine/ops/elementwise.h"

namespace hasten {

enum class Reduction { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kLogSum, kLogSumExp, kSumSquare };

/// The rows of a Reduce operator; `input_since`: the opset since which axes are an input.
std::vector<OpDef> reduction_rows(const char* name, Reduction reduction, int input_since);

/// Folds input 0 over `axes` (ascending); output 0 gets `out_dims`, which has as many elements as
/// the axes that stay. All numbers, and truths for max and min. Over no elements: sums are 0,
/// products 1, the largest is the smallest number there is and the other way round; a mean is NaN,
/// of integers an error.
Status reference_reduction(RefContext& c, Reduction reduction, const std::vector<size_t>& axes,
                           const Dims& out_dims);

/// Lowers the same for floats; `axes` ascending. Input and output may be nchw16c if all axes but
/// the first two are folded.
Status lower_reduction(LowerContext& c, Reduction reduction, const std::vector<size_t>& axes);

}  // namespace hasten
