// Shapes of nodes that several rewrites look for.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/ops/op.h"
#include "engine/passes/rewrite.h"

namespace hasten {

/// A Conv or ConvTranspose of the file or of an earlier rewrite.
bool is_conv(const Node& node);
/// A product of floats by one matrix that hasten.Gemm can compute: MatMul, or a Gemm whose C is
/// absent or one row; or a hasten.Gemm.
bool is_gemm(const Rewriter& rewriter, const Node& node);
/// The columns of its result, as far as they are known; else kNoChannels.
constexpr int64_t kNoChannels = -1;
int64_t gemm_columns(const Rewriter& rewriter, const Node& node);
/// It has no activation yet.
bool has_free_activation(const Node& node);

/// The activation of a node as fused operators name it.
struct ActivationPattern {
  std::string name;
  std::vector<float> params;
};
/// Relu, Clip with constant bounds, LeakyRelu, HardSigmoid, HardSwish, Sigmoid, Tanh, Silu, Gelu.
std::optional<ActivationPattern> match_activation(const Rewriter& rewriter, const Node& node);

/// The node as `hasten.<op>`, which also takes a residual and an activation.
Node fused_form(const Node& node);
/// What is_gemm() took as hasten.Gemm; a constant C becomes a vector.
Result<Node> gemm_form(Rewriter& rewriter, const Node& node);

/// Both known, and equal dim by dim (symbols too).
bool same_shape(const Graph& graph, ValueId a, ValueId b);

/// The elements of a constant that has one element, or one per index of `axis` of a value of rank
/// `rank` that it is broadcast to: `channels` floats, or nothing.
std::optional<std::vector<float>> per_channel(const Tensor& constant, size_t rank, size_t axis,
                                              int64_t channels);

/// A constant of one number, of any float or integer dtype, within 1e-6 of `number`.
bool is_number(const Rewriter& rewriter, ValueId id, double number);
/// A constant whose elements are all this number.
bool is_all(const Rewriter& rewriter, ValueId id, double number);

/// The node of that operator of ai.onnx that makes the value, or -1.
int producer_of(const Rewriter& rewriter, ValueId id, std::string_view op);
/// Of a node with two inputs, one of which is `id`: the other. kNoValue where there is none.
ValueId other_input(const Node& node, ValueId id);

/// A product as exporters write it, in any order: Mul, and Div by constants, taken apart down to
/// what others read too.
struct Product {
  double constant = 1;           // of the constant factors of one element
  std::vector<ValueId> factors;  // the others
  std::vector<size_t> nodes;     // the root first
};
Product match_product(const Rewriter& rewriter, size_t root);

/// Replaces the nodes, the first of which makes the result, by one; false (and nothing happens)
/// where somebody else reads what the others make.
bool replace_nodes(Rewriter& rewriter, std::vector<size_t> nodes, Node by);
/// Calls fn for every node of every block; how often it returned true.
Result<int> fuse_each(Graph& graph, const std::function<Result<bool>(Rewriter&, size_t)>& fn);
/// An operator of ai.onnx at that opset, named after the node whose output it takes over.
Node onnx_node(const Node& like, const char* op, int64_t version, std::vector<ValueId> inputs);

}  // namespace hasten
