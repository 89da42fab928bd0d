// SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss: one implementation.
#pragma once

#include <vector>

#include "engine/ops/op.h"

namespace hasten {

/// The rows (opsets 12, 13) of a loss over classes: of log-probabilities, or with `softmax` of
/// scores [N, C, D1, …], with labels [N, D1, …] and weights [C].
std::vector<OpDef> class_loss(const char* name, bool softmax);

}  // namespace hasten
