// What Conv and ConvTranspose share: the kernels behind both, and the packing of weights.
#pragma once

#include <vector>

#include "engine/ops/activation.h"
#include "engine/ops/numbers.h"
#include "engine/ops/window_plan.h"

namespace hasten {

/// A convolution or transposed convolution with every size known.
struct Convolution {
  std::vector<WindowAxis> axes;  // one for each spatial axis
  bool transposed = false;
  int64_t images = 0, groups = 1, group_in = 0, group_out = 0;
  Activation activation;
};

/// Input channels are taken in blocks of this many; see docs/numerics.md.
constexpr int64_t kChannelBlock = 16;

/// Weight of (group, out channel of the group, in channel of the group, tap): an index into
/// [M, C / group, taps] of Conv or [C, M / group, taps] of ConvTranspose.
inline int64_t weight_index(const Convolution& v, int64_t taps, int64_t group, int64_t out,
                            int64_t in, int64_t tap) {
  return v.transposed ? ((group * v.group_in + in) * v.group_out + out) * taps + tap
                      : ((group * v.group_out + out) * v.group_in + in) * taps + tap;
}

/// Takes a kernel for f32 tensors of 1 to 3 spatial axes. Inputs X, W, B?, residual?.
Status lower_convolution(LowerContext& c, const Convolution& v);

/// The oracle, for every float dtype and number of axes. Inputs X, W, B?, residual?; the sums are
/// made in the order that docs/numerics.md gives.
Status reference_convolution(RefContext& c, const Convolution& v, const Dims& out);

}  // namespace hasten
