// What scales and shifts the columns of a matrix product goes into its weights and bias.
//
//   %c = MatMul(%x, W); %y = Mul|Div|Add|Sub(%c, constant per column)
//   %c = Gemm(%x, W, b); %y = BatchNormalization(%c, scale, shift, mean, var)
//       ->   %y = hasten.Gemm(%x, W', b')
//
// As fuse_conv_scale: new weights in double, rounded once; outputs agree within 1e-5 of their
// scale; nothing is folded where a new weight would not be finite. Gemm only with alpha and beta 1.
#include "engine/passes/fuse_into.h"

namespace hasten {

namespace {

std::optional<Channels> channels_of(const Rewriter& rewriter, const Node& node) {
  if (node.attr_float("alpha", 1) != 1 || node.attr_float("beta", 1) != 1) return std::nullopt;
  const Tensor* w = rewriter.constant(node.input(1));
  if (w == nullptr || w->dims().size() != 2) return std::nullopt;
  const bool transposed = node.attr_int("transB", 0) != 0;
  return Channels{w->dims()[transposed ? 0 : 1], transposed ? w->dims()[1] : 1, true};
}

Result<int> run(Graph& graph, PassContext&) { return fuse_scale(graph, gemm_host(), channels_of); }

}  // namespace

extern const Pass pass_fuse_gemm_scale;
const Pass pass_fuse_gemm_scale = {
    "fuse_gemm_scale", "MatMul then BatchNormalization, Mul, Add … per column -> hasten.Gemm", run,
    1e-5};

}  // namespace hasten
