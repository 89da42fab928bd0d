// A scale and a shift behind an activation are applied with it.
//
//   %c = hasten.Conv(%x, W, b) {activation="relu"}; %m = Mul(%c, 2); %y = Add(%m, 0.5)
//       ->   %y = hasten.Conv(%x, W, b) {activation="relu_affine", activation_params=[2, 0.5]}
//
// Relu and HardSwish, as PaddleOCR's backbones have them: one number for all channels, which may
// not go into the next convolution, as that pads with zeros. Only where nobody else reads what lies
// between. Same bits: the product and the sum are rounded as they were.
#include "engine/passes/fuse_into.h"

namespace hasten {

namespace {

/// The operand of a Mul or Add whose other one is a single number.
ValueId beside_number(const Rewriter& rewriter, const Node& node, float* number) {
  for (size_t k = 0; k < 2; ++k) {
    if (rewriter.scalar(node.inputs[k], number)) return node.inputs[1 - k];
  }
  return kNoValue;
}

Result<bool> fuse_at(Rewriter& rewriter, size_t at) {
  const Node& add = rewriter.node(at);
  if (!rewriter.alive(at) || add.op != "Add" || !add.domain.empty()) return false;
  float scale = 0, shift = 0;
  const ValueId scaled = beside_number(rewriter, add, &shift);
  if (scaled == kNoValue) return false;
  const int mul = producer_of(rewriter, scaled, "Mul");
  if (mul < 0) return false;
  const ValueId sums = beside_number(rewriter, rewriter.node(static_cast<size_t>(mul)), &scale);
  const int host = sums == kNoValue ? -1 : rewriter.producer(sums);
  if (host < 0 || !is_conv(rewriter.node(static_cast<size_t>(host)))) return false;
  Node fused = rewriter.node(static_cast<size_t>(host));
  const std::string activation = fused.attr_string("activation", "none");
  if ((activation != "relu" && activation != "hard_swish") ||
      rewriter.value(sums).dtype != DType::kF32 ||
      !same_shape(rewriter.graph(), sums, add.outputs[0])) {
    return false;
  }
  fused.set_attr("activation", activation + "_affine");
  fused.set_attr("activation_params", std::vector<float>{scale, shift});
  fused.outputs = {add.outputs[0]};
  return replace_nodes(rewriter, {at, static_cast<size_t>(mul), static_cast<size_t>(host)},
                       std::move(fused));
}

Result<int> run(Graph& graph, PassContext&) { return fuse_each(graph, fuse_at); }

}  // namespace

extern const Pass pass_fuse_conv_affine;
const Pass pass_fuse_conv_affine = {
    "fuse_conv_affine", "Add(Mul(hasten.Conv {relu}, 2), 0.5) -> hasten.Conv {relu_affine}", run};

}  // namespace hasten
