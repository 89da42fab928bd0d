// A residual connection is added by the convolution that it follows.
//
//   %c = Conv(%x, W, b); %y = Add(%c, %r)   ->   %y = hasten.Conv(%x, W, b, %r)
//
// Only where %r is known to have the shape of %c (symbols equal), and %c has no other reader. Same
// bits: the convolution adds the residual after its bias, as the two nodes did.
#include "engine/passes/fuse_into.h"

namespace hasten {

namespace {

Result<int> run(Graph& graph, PassContext&) { return fuse_residual(graph, conv_host()); }

}  // namespace

extern const Pass pass_fuse_conv_add;
const Pass pass_fuse_conv_add = {"fuse_conv_add", "Add(Conv(x), r) -> hasten.Conv(x, r)", run};

}  // namespace hasten
