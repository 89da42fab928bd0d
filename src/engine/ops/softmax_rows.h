// Softmax and LogSoftmax: one implementation.
#pragma once

#include <vector>

#include "engine/ops/op.h"

namespace hasten {

/// The rows of Softmax (or its logarithm): as of opset 13 along one axis, before over all axes from
/// `axis` on.
std::vector<OpDef> softmax_rows(const char* name, bool log);

}  // namespace hasten
