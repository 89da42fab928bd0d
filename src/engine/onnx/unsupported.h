// What a decoded file has that hasten can't run.
#pragma once

#include "engine/onnx/load.h"
#include "engine/onnx/proto.h"

namespace hasten::onnx {

/// All of it, in the order of the file; no weight is read. Bodies of functions are looked at once,
/// when they are called.
std::vector<Unsupported> find_unsupported(const ModelProto& model);

/// Error: unsupported, naming the first of each kind; success if the list is empty.
Status refuse(const std::vector<Unsupported>& list);

}  // namespace hasten::onnx
