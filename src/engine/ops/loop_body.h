// What operators with a body check of it: Loop, Scan, SequenceMap.
#pragma once

#include "engine/ops/op.h"

namespace hasten {

/// The node has one block, "body", with `inputs` inputs and at least `min_outputs` outputs, of
/// which the node's outputs are the last ones: as many, or fewer. Sets all outputs to unknown.
/// Error: invalid_model with both numbers.
Status check_body(InferContext& c, size_t inputs, size_t min_outputs);

/// Inputs from `first` on are all there. Error: invalid_model.
Status check_required(const InferContext& c, size_t first);

}  // namespace hasten
