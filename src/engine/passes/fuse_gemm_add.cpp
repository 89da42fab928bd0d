// A residual connection is added by the matrix product that it follows.
//
//   %c = hasten.Gemm(%x, W, b); %y = Add(%c, %r)   ->   %y = hasten.Gemm(%x, W, b, %r)
//
// MatMul and Gemm too. Only where %r is known to have the shape of %c (symbols equal), and %c has
// no other reader. Same bits: the product adds the residual after its bias, as the two nodes did.
#include "engine/passes/fuse_into.h"

namespace hasten {

namespace {

Result<int> run(Graph& graph, PassContext&) { return fuse_residual(graph, gemm_host()); }

}  // namespace

extern const Pass pass_fuse_gemm_add;
const Pass pass_fuse_gemm_add = {"fuse_gemm_add", "Add(MatMul(x, W), r) -> hasten.Gemm(x, W, _, r)",
                                 run};

}  // namespace hasten
