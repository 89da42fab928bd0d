// A vector is added by the matrix product that it follows.
//
//   %c = MatMul(%x, W); %y = Add(%c, b)   ->   %y = hasten.Gemm(%x, W, b)
//
// Gemm without C too. b: one number per column, a vector of the graph or a constant row; a matrix
// of floats W, constant or not. Only where %c has no other reader. Same bits: the product adds its
// bias to the finished sum, as the two nodes did.
#include "engine/passes/fuse_into.h"

namespace hasten {

namespace {

/// Is there one number per column?
bool is_row(const Rewriter& rewriter, ValueId id, const Shape& out, int64_t columns) {
  const Value& v = rewriter.value(id);
  if (v.dtype != DType::kF32 || !v.has_shape) return false;
  if (v.is_constant()) {
    return per_channel(v.constant, out.size(), out.size() - 1, columns).has_value();
  }
  return v.shape == Shape{Dim(columns)};
}

Result<ValueId> as_vector(Rewriter& rewriter, ValueId id, int64_t columns) {
  const Value& v = rewriter.value(id);
  if (v.shape == Shape{Dim(columns)}) return id;
  const auto row = per_channel(v.constant, v.shape.size() + 1, v.shape.size(), columns);
  if (!row) return fail(Code::kInternal, "{} is not a row", v.name);
  return rewriter.new_constant(v.name + ".row", Tensor::floats({columns}, *row));
}

Result<int> run(Graph& graph, PassContext&) {
  const Host host = gemm_host();
  return for_each_block(graph, [&](Block& block) -> Result<int> {
    Rewriter rewriter(graph, block);
    int changes = 0;
    for (size_t i = 0; i < rewriter.size(); ++i) {
      const Node& add = rewriter.node(i);
      if (!rewriter.alive(i) || !add.domain.empty() || add.op != "Add") continue;
      for (size_t k = 0; k < 2; ++k) {
        const ValueId product = add.inputs[k], out = add.outputs[0];
        const int at = host_of(rewriter, host, i, product);
        if (at < 0 || !same_shape(graph, product, out)) continue;
        const Node& made_by = rewriter.node(static_cast<size_t>(at));
        const int64_t columns = gemm_columns(rewriter, made_by);
        const Shape shape = graph.value(out).shape;
        if (columns == kNoChannels || made_by.has_input(2) || made_by.has_input(3) ||
            !is_row(rewriter, add.inputs[1 - k], shape, columns)) {
          continue;
        }
        HASTEN_TRY(Node fused, host.form(rewriter, made_by));
        fused.inputs.resize(3, kNoValue);
        HASTEN_TRY(fused.inputs[2], as_vector(rewriter, add.inputs[1 - k], columns));
        // A beta that there was is of a C that isn't there.
        if (fused.find_attr("beta") != nullptr) fused.set_attr("beta", 1.0f);
        fused.outputs = {out};
        rewriter.remove(static_cast<size_t>(at));
        rewriter.remove(i);
        rewriter.insert_before(i, std::move(fused));
        ++changes;
        break;
      }
    }
    rewriter.sweep();
    return changes;
  });
}

}  // namespace

extern const Pass pass_fuse_gemm_bias;
const Pass pass_fuse_gemm_bias = {"fuse_gemm_bias", "Add(MatMul(x, W), b) -> hasten.Gemm(x, W, b)",
                                  run};

}  // namespace hasten
