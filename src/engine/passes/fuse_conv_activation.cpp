// An activation is applied by the convolution that it follows.
//
//   %c = Conv(%x, W, b, r); %y = Relu(%c)   ->   %y = hasten.Conv(%x, W, b, r) {activation="relu"}
//
// Relu, Clip with constant bounds around 0, LeakyRelu, HardSigmoid, HardSwish, Sigmoid, Tanh, Silu,
// Gelu. Only where %c has no other reader. Same bits: it is the same function on the same sums.
#include "engine/passes/fuse_into.h"

namespace hasten {

namespace {

Result<int> run(Graph& graph, PassContext&) { return fuse_activation(graph, conv_host()); }

}  // namespace

extern const Pass pass_fuse_conv_activation;
const Pass pass_fuse_conv_activation = {"fuse_conv_activation",
                                        "Relu(Conv(x)) -> hasten.Conv(x) {activation}", run};

}  // namespace hasten
