// What the models of one process share: thread pools, kernels, the log.
#pragma once

#include <memory>
#include <string>

#include "hasten/error.h"
#include "hasten/log.h"

namespace hasten::api {

class Context {
 public:
  /// Errors: kInvalidArgument or kUnsupported when HASTEN_ISA names a tier that is unknown, or that
  /// this CPU lacks.
  static Result<std::shared_ptr<Context>> make(LogFunction log = {});
  virtual ~Context() = default;
  /// The tier of kernels in use: "scalar", "avx2", "avx512".
  virtual std::string isa() const = 0;
};

}  // namespace hasten::api
