// Targets: a model and how to run it, as typed on the command line.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/exec/engine.h"

namespace hasten {

struct Target {
  std::string text;    // as typed
  std::string model;   // the .onnx or .hplan file that an engine opens
  std::string bundle;  // the bundle's folder if one was named, else empty
  EngineOptions options;
};

/// Parses `MODEL[@key=value,...]` and resolves a bundle directory to the target that its
/// bundle.json names; keys typed behind a bundle win over the bundle's own. An `@` that belongs to
/// a path is fine as long as no `key=` follows it. Errors: invalid_argument (an unknown key lists
/// those there are), io, invalid_model (a bundle.json that makes no sense).
Result<Target> parse_target(std::string_view text);

/// "1x3x224x224" -> [1,3,224,224]; `?` is a dim left open; "" is a scalar.
Result<Shape> parse_shape(std::string_view text);

/// Sets what one `key=value` says. Keys of engines other than those known by name go to
/// EngineOptions::extra, and the engine judges them; the native engine has none.
Status set_target_option(EngineOptions& options, std::string_view key, std::string_view value);

}  // namespace hasten
