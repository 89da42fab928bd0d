// ModelProto -> Graph.
#pragma once

#include "engine/onnx/load.h"
#include "engine/onnx/tensor.h"

namespace hasten::onnx {

/// `owner` keeps the bytes that the model points into; null: weights are copied.
Result<Graph> build_graph(const ModelProto& model, const LoadOptions& options,
                          const std::shared_ptr<const void>& owner, ExternalFiles& external);

}  // namespace hasten::onnx
