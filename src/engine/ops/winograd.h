// Winograd convolution: where it pays, and how it is set up. See kernels/conv_winograd.cpp.
#pragma once

#include "engine/ops/convolution.h"

namespace hasten {

/// Whether a convolution of f32 goes by Winograd: 3x3 taps side by side, stride 1, one group,
/// constant weights, channels and pixels enough for it to be faster; never with exact math. Depends
/// on the layer alone, not on layouts or the batch, so that bits don't either.
bool winograd_fits(const LowerContext& c, const Convolution& v);

/// Takes the kernel. Inputs X, W, B?, residual?; each of X and Y in planes or nchw16c.
Status lower_winograd(LowerContext& c, const Convolution& v, bool x_blocked, bool y_blocked);

}  // namespace hasten
