// What the adapters share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/exec/engine.h"

namespace hasten {

/// The value of an environment variable, or `otherwise` where it is unset or empty.
std::string environment_or(const char* variable, std::string otherwise);

/// A library opened for the life of the process. Error: unsupported, with the loader's reason.
Result<void*> open_library(const std::string& path, const char* peer);

/// unsupported: the peer is not built in; says how to get it.
tl::unexpected<Error> peer_missing(const char* peer);

/// Checks what a caller binds against the ports: count, dtype, rank, known dims.
Status check_inputs(const std::vector<Port>& ports, std::span<const TensorView> inputs);

/// "a, b, c"
std::string join_names(const std::vector<std::string>& names);

/// A message of somebody else's on one line, without trailing space.
std::string one_line(std::string_view text);

}  // namespace hasten
