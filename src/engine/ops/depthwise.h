// Depthwise convolution: a channel of output for each channel of input.
#pragma once

#include "engine/ops/convolution.h"

namespace hasten {

/// Takes a kernel. Inputs X, W, B?, residual?; X and Y both in nchw16c (`blocked`), or in planes.
Status lower_depthwise(LowerContext& c, const Convolution& v, bool blocked);

}  // namespace hasten
