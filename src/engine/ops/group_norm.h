// InstanceNormalization and GroupNormalization: one implementation.
#pragma once

#include "engine/ops/op.h"

namespace hasten {

/// X as [samples, groups, channels of a group, pixels]; the statistics are those of a group.
struct NormGroups {
  int64_t samples = 1, groups = 1, channels = 1, pixels = 1;
  bool per_group = false;  // scale and bias: one a group, else one a channel
};

/// X [N, C, ...] cut into `groups` (0: one a channel) groups of channels.
NormGroups norm_groups(const Dims& x, int64_t groups, bool per_group);

/// All inputs floats of one dtype; X of rank 2 or more; scale and bias of `length` elements, as far
/// as known. The output is like X. Errors: invalid_model.
Status infer_group_norm(InferContext& c, Dim length);
/// (x - mean) / sqrt(variance + epsilon) * scale + bias, in double.
Status reference_group_norm(RefContext& c, const NormGroups& g);
Status lower_group_norm(LowerContext& c, const NormGroups& g);

}  // namespace hasten
