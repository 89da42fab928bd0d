// An activation is applied by the matrix product that it follows.
//
//   %c = Gemm(%x, W, b); %y = Relu(%c)   ->   %y = hasten.Gemm(%x, W, b) {activation="relu"}
//
// Those of fuse_conv_activation, after MatMul and Gemm. Only where %c has no other reader. Same
// bits: it is the same function on the same sums.
#include "engine/passes/fuse_into.h"

namespace hasten {

namespace {

Result<int> run(Graph& graph, PassContext&) { return fuse_activation(graph, gemm_host()); }

}  // namespace

extern const Pass pass_fuse_gemm_activation;
const Pass pass_fuse_gemm_activation = {"fuse_gemm_activation",
                                        "Relu(Gemm(x, W)) -> hasten.Gemm(x, W) {activation}", run};

}  // namespace hasten
