// Softmax, LogSoftmax and Hardmax: the rows they work on; Softmax and LogSoftmax: one
// implementation.
#pragma once

#include <vector>

#include "engine/ops/op.h"

namespace hasten {

/// The rows of Softmax (or its logarithm): as of opset 13 along one axis, before over all axes from
/// `axis` on.
std::vector<OpDef> softmax_rows(const char* name, bool log);

/// The attribute, counted from the front; before opset 13 it may also be the rank: then each
/// element is a row. Error: invalid_model.
Result<size_t> softmax_axis(const OpContext& c, size_t rank);

/// A tensor as [outer, n, inner]; n is what is normalized.
struct SoftmaxExtent {
  int64_t outer = 1, n = 1, inner = 1;
  bool along_rows = true;
};
SoftmaxExtent softmax_extent(const OpContext& c, std::span<const int64_t> dims, size_t axis);

}  // namespace hasten
