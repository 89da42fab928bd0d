// https://onnx.ai/onnx/operators/onnx__GroupNormalization.html, floats: opsets 18-20 (scale and
// bias per group), 21 (per channel). stash_type 1 (statistics in f32) only.
#include "engine/ops/group_norm.h"
#include "engine/ops/op.h"

namespace hasten {

namespace {

int64_t groups_of(const OpContext& c) { return c.node().attr_int("num_groups", 0); }
bool per_group(const OpContext& c) { return c.node().def->since < 21; }

Status infer(InferContext& c) {
  const int64_t groups = groups_of(c);
  if (groups < 1) return c.invalid("num_groups is {}, it must be at least 1", groups);
  if (c.node().attr_int("stash_type", 1) != 1) {
    return c.unsupported("stash_type {}", c.node().attr_int("stash_type", 1));
  }
  const Facts& x = c.in(0);
  const Dim channels = x.has_shape && x.rank() > 1 ? x.shape[1] : Dim::fresh();
  if (channels.known() && channels.value() % groups != 0) {
    return c.invalid("{} channels do not divide into {} groups", channels.value(), groups);
  }
  return infer_group_norm(c, per_group(c) ? Dim(groups) : channels);
}

Status reference(RefContext& c) {
  return reference_group_norm(c, norm_groups(c.in(0).dims, groups_of(c), per_group(c)));
}

Status lower(LowerContext& c) {
  return lower_group_norm(c, norm_groups(c.in_dims(0), groups_of(c), per_group(c)));
}

}  // namespace

std::vector<OpDef> ops_group_normalization() {
  OpDef first{"", "GroupNormalization",      18,    20,        3,    3, 1,
              1,  {"epsilon", "num_groups"}, infer, reference, lower};
  OpDef now = first;
  now.since = 21;
  now.until = kLastOpset;
  now.attrs.push_back("stash_type");
  return {first, now};
}

}  // namespace hasten
