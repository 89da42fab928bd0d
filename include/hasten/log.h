// Where messages go. The library never prints by itself.
#pragma once

#include <functional>
#include <string_view>

namespace hasten::api {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
using LogFunction = std::function<void(LogLevel, std::string_view)>;

}  // namespace hasten::api
