// Models and their callers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hasten/context.h"
#include "hasten/error.h"
#include "hasten/tensor.h"

namespace hasten::api {

struct ModelOptions {
  std::string engine = "native";  // native, onnxruntime, openvino
  int threads = 0;                // 0: the machine's choice
  bool exact_math = false;        // no Winograd
  int64_t memory_limit = 0;       // bytes; 0: none
};

/// One caller of a model: not shared between threads, but several may run at once.
class Session {
 public:
  virtual ~Session() = default;
  /// Runs on these inputs, in the order of Model::inputs(). The views returned are in the order of
  /// Model::outputs() and valid until the next run. Errors: kInvalidArgument (count, type, shape),
  /// kInvalidModel, kOutOfMemory.
  virtual Result<std::vector<TensorView>> run(std::span<const TensorView> inputs) = 0;
};

/// A loaded model, shared by its sessions.
class Model {
 public:
  /// Opens an .onnx or .hplan file. Errors: kIo, kInvalidModel, kUnsupported (naming what).
  static Result<std::shared_ptr<Model>> open(std::shared_ptr<Context> context,
                                             const std::string& path,
                                             const ModelOptions& options = {});
  virtual ~Model() = default;
  virtual const std::vector<TensorSpec>& inputs() const = 0;
  virtual const std::vector<TensorSpec>& outputs() const = 0;
  /// The session keeps the model alive.
  virtual Result<std::unique_ptr<Session>> make_session() = 0;
};

}  // namespace hasten::api
