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

/// Where Conv and its integer kin have their inputs; kNoInput: nowhere.
struct ConvolutionInputs {
  static constexpr size_t kNoInput = SIZE_MAX;
  size_t x = 0, w = 1, bias = 2;
};
/// Returns the attribute `group`, at least 1; input and weight have one rank of at least 3 as far
/// as known. Error: invalid_model.
Result<int64_t> check_group_and_ranks(const OpContext& c, const Facts& x, const Facts& w);
/// Checks sizes and attributes of a convolution and sets output 0 to that dtype.
/// Errors: invalid_model.
Status infer_convolution(InferContext& c, const ConvolutionInputs& in, DType dtype);
/// The shape of the output for concrete inputs. Errors: those of infer_convolution().
Result<Dims> convolution_shape(const OpContext& c, const Dims& x, const Dims& w);
/// All sizes once they are known; without the activation.
Result<Convolution> read_convolution(const OpContext& c, const Dims& x, const Dims& w,
                                     const Dims& y);

/// Input channels are taken in blocks of this many; see docs/numerics.md.
constexpr int64_t kChannelBlock = 16;

/// Weight of (group, out channel of the group, in channel of the group, tap): an index into
/// [M, C / group, taps] of Conv or [C, M / group, taps] of ConvTranspose.
inline int64_t weight_index(const Convolution& v, int64_t taps, int64_t group, int64_t out,
                            int64_t in, int64_t tap) {
  return v.transposed ? ((group * v.group_in + in) * v.group_out + out) * taps + tap
                      : ((group * v.group_out + out) * v.group_in + in) * taps + tap;
}

/// So many items threads share evenly. One thread has no need of any.
int64_t items_wanted(int threads);
/// The plan, cut so that a chunk's input of `channels` stays in cache and there is work for every
/// thread: `wanted` items. `pieces`: what the work falls into apart from the cut.
bool plan_convolution(const Convolution& v, int64_t channels, int64_t pieces, int64_t wanted,
                      bool may_turn, WindowPlan* plan);

/// Takes a kernel for f32 tensors of 1 to 3 spatial axes. Inputs X, W, B?, residual?.
Status lower_convolution(LowerContext& c, const Convolution& v);

/// The oracle, for every float dtype and number of axes. Inputs X, W, B?, residual?; the sums are
/// made in the order that docs/numerics.md gives.
Status reference_convolution(RefContext& c, const Convolution& v, const Dims& out);

}  // namespace hasten
