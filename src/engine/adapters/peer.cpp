#include "engine/adapters/peer.h"

#include <dlfcn.h>

#include <cstdlib>

namespace hasten {

std::string environment_or(const char* variable, std::string otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? std::string(value) : std::move(otherwise);
}

Result<void*> open_library(const std::string& path, const char* peer) {
  // Local: its symbols (protobuf, TBB …) must not meet those of another library.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return fail(Code::kUnsupported, "cannot load {}: {}; tools/setup installs it", peer,
                reason != nullptr ? reason : "unknown reason");
  }
  return handle;
}

tl::unexpected<Error> peer_missing(const char* peer) {
  return fail(Code::kUnsupported,
              "engine {} is not built in: run tools/setup, which brings it, and build again", peer);
}

Status check_inputs(const std::vector<Port>& ports, std::span<const TensorView> inputs) {
  if (inputs.size() != ports.size()) {
    return fail(Code::kInvalidArgument, "the model has {} inputs, {} were given", ports.size(),
                inputs.size());
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    const TensorView& in = inputs[i];
    if (in.dtype != port.dtype) {
      return fail(Code::kInvalidArgument, "input '{}': the model wants {}, got {}", port.name,
                  dtype_name(port.dtype), dtype_name(in.dtype));
    }
    if (!port.has_shape) continue;
    bool fits = in.dims.size() == port.shape.size();
    for (size_t d = 0; fits && d < in.dims.size(); ++d) {
      fits = !port.shape[d].known() || port.shape[d].value() == in.dims[d];
    }
    if (!fits) {
      return fail(Code::kInvalidArgument, "input '{}': the model wants {}, got {}", port.name,
                  shape_text(port.shape), dims_text(in.dims));
    }
  }
  return {};
}

std::string join_names(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string one_line(std::string_view text) {
  std::string line;
  for (char c : text) {
    const bool space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace hasten
