// https://onnx.ai/onnx/operators/onnx__InstanceNormalization.html, opsets 6-21, floats. The
// variance is that of the whole population.
#include "engine/ops/group_norm.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  return infer_group_norm(c, x.has_shape && x.rank() > 1 ? x.shape[1] : Dim::fresh());
}

Status reference(RefContext& c) {
  return reference_group_norm(c, norm_groups(c.in(0).dims, 0, false));
}

Status lower(LowerContext& c) { return lower_group_norm(c, norm_groups(c.in_dims(0), 0, false)); }

}  // namespace

std::vector<OpDef> ops_instance_normalization() {
  return {{"",
           "InstanceNormalization",
           6,
           kLastOpset,
           3,
           3,
           1,
           1,
           {"epsilon"},
           infer,
           reference,
           lower}};
}

}  // namespace hasten
