#include "engine/plan/evaluate.h"

#include <algorithm>

#include "engine/kernels/kernels.h"
#include "engine/ops/packed.h"

namespace hasten {

namespace {

Result<std::vector<Tensor>> evaluate_reference(const Node& node, std::span<const Tensor> inputs) {
  if (node.def == nullptr || node.def->reference == nullptr) {
    return fail(Code::kUnsupported, "{}: no reference for this operator", node.label());
  }
  std::vector<TensorView> views;
  views.reserve(inputs.size());
  for (const Tensor& t : inputs) views.push_back(t.view());
  std::vector<Tensor> outputs(node.outputs.size());
  RefContext context(node, views, [&](size_t i, DType dtype, const Dims& dims) -> Result<void*> {
    HASTEN_TRY(outputs[i], Tensor::make(dtype, dims));
    return outputs[i].mutable_data();
  });
  HASTEN_CHECK(node.def->reference(context));
  return outputs;
}

}  // namespace

Result<std::vector<Tensor>> evaluate_node(const Node& node, std::span<const Tensor> inputs,
                                          const EvaluateOptions& options) {
  if (node.def == nullptr || !node.blocks.empty()) {
    return fail(Code::kUnsupported, "{}: not an operator that can be evaluated by itself",
                node.label());
  }
  std::vector<Facts> in(inputs.size());
  std::vector<const Facts*> in_pointers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].empty()) {
      in[i] = {inputs[i].dtype(), true,      to_shape(inputs[i].dims()),
               Layout::kPlain,    inputs[i], true};
    }
    in_pointers.push_back(inputs[i].empty() ? nullptr : &in[i]);
  }
  std::vector<Facts> out(node.outputs.size());
  InferContext infer(node, in_pointers, out);
  HASTEN_CHECK(node.def->infer(infer));
  if (options.kernel_used) *options.kernel_used = "reference";
  if (makes_no_elements(node, out)) return make_outputs(node, out);
  if (options.kernels == nullptr || node.def->lower == nullptr) {
    return evaluate_reference(node, inputs);
  }
  for (const Facts& f : out) {
    if (!f.known_shape()) return evaluate_reference(node, inputs);
  }
  PackedStore packed;
  LowerContext lower(node, in_pointers, out, *options.kernels, packed, packed, options.exact_math,
                     options.pool ? options.pool->threads() : 1);
  HASTEN_CHECK(node.def->lower(lower));
  const Lowered& lowered = lower.result();
  if (lowered.kernel.empty()) return evaluate_reference(node, inputs);
  if (options.kernel_used) *options.kernel_used = lowered.kernel;
  if (lowered.alias_of >= 0) {
    return std::vector<Tensor>{
        inputs[static_cast<size_t>(lowered.alias_of)].reshaped(to_dims(out[0].shape))};
  }
  HASTEN_TRY(std::vector<Tensor> outputs, make_outputs(node, out));
  std::vector<const void*> in_data;
  std::vector<void*> out_data;
  for (const Tensor& t : inputs) in_data.push_back(t.data());
  out_data.reserve(outputs.size());
  for (Tensor& t : outputs) out_data.push_back(t.mutable_data());
  // Those that are left out at the end are null too.
  in_data.resize(std::max(in_data.size(), static_cast<size_t>(std::max(0, node.def->max_inputs))));
  out_data.resize(
      std::max(out_data.size(), static_cast<size_t>(std::max(0, node.def->max_outputs))));
  HASTEN_TRY(Tensor scratch,
             Tensor::make(DType::kU8, {static_cast<int64_t>(lowered.scratch_bytes)}));
  std::atomic<int64_t> fault{0};
  const StepArgs args{in_data.data(), out_data.data(), scratch.mutable_as<std::byte>(),
                      options.pool, &fault};
  lowered.run(args);
  HASTEN_CHECK(check_fault(node, fault));
  return outputs;
}

}  // namespace hasten
