// Where messages of the library go: nowhere, unless a front end installs a sink.
#pragma once

#include <string_view>

namespace hasten {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;
};

/// The sink that swallows everything: the default of a Context.
LogSink& silent_log();

}  // namespace hasten
